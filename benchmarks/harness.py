"""What all benchmarks share.

Functions timed in turns, one row per comparison, jobs that may fail, and tables that are never half written.
"""
import gc
import sys
import traceback
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ubic.files import write_atomically

SHORT, LONG, VERY_LONG = 0.1, 10, 60 # seconds
COLUMNS = "group name peer ours_s ours_spread peer_s peer_spread ratio ratio_low ratio_high repeats agreement".split()


class Measured(NamedTuple):
    "A result that brings its own seconds: those of another process, or per independent draw."
    seconds: float
    result: Any


def timed(
    function,
    calls: int = 1,
): # seconds per call, and what the last call returned
    "Wall time of a function; what earlier ones left behind is swept up before the clock starts."
    gc.collect()
    start = perf_counter()
    for _ in range(calls): result = function()
    return result if isinstance(result, Measured) else Measured((perf_counter() - start)/calls, result)


def waiting(function):
    "A timed call, and how long one had to wait for it, which a result with its own seconds does not tell."
    start = perf_counter()
    return timed(function), perf_counter() - start


def in_turns(
    functions, # each without arguments
    repeats: int = 5, # rounds; at most two when a single call takes longer than a minute
    counts=(), # numbers of functions that compile nothing, so that a first call that takes long counts
): # seconds, rounds × functions, and what each function returned last
    """Call functions one after the other, forwards and backwards by turns.

    So a machine that slows down slows all of them down.
    """
    done, waited = map(list, zip(*map(waiting, functions))) # may compile
    kept = {i for i in counts if waited[i] > LONG}
    if max(waited) > VERY_LONG: repeats = min(repeats, 2)
    seconds = np.empty((repeats, len(functions)))
    for turn in range(repeats):
        for i in range(len(functions))[::(-1)**turn]:
            calls = max(1, round(SHORT/max(done[i].seconds, 1e-9)))
            if turn or i not in kept: done[i] = timed(functions[i], calls=calls)
            seconds[turn, i] = done[i].seconds
    return seconds, [result for _, result in done]


def spread(values): return float(np.ptp(values)) if len(values) > 1 else np.nan


def side_by_side(
    ours,
    peer,
    repeats: int = 5, # rounds
): # what the table says about the two times, and both results
    """Time two functions in turns.

    The ratio is that of the medians; its ends are the smallest and the largest ratio within one round.
    """
    seconds, (mine, theirs) = in_turns([ours, peer], repeats, counts=[1])
    (ours_s, peer_s), ratios = np.median(seconds, axis=0), seconds[:, 1]/seconds[:, 0]
    times = {
        "ours_s": ours_s,
        "ours_spread": spread(seconds[:, 0]),
        "peer_s": peer_s,
        "peer_spread": spread(seconds[:, 1]),
        "ratio": peer_s/ours_s,
        "ratio_low": ratios.min(),
        "ratio_high": ratios.max(),
        "repeats": len(seconds),
    }
    return times, mine, theirs


def compare(
    name: str, # of the task
    peer: str, # what else does it
    ours, # function without arguments
    theirs, # likewise, of the peer
    agreement, # function of both results: what they have in common, in words
    repeats: int = 5,
) -> dict: # one row of the table
    "One comparison."
    times, mine, other = side_by_side(ours, theirs, repeats)
    return {"name": name, "peer": peer, **times, "agreement": agreement(mine, other)}


def say(*words): print(*words, file=sys.stderr, flush=True)


def results(jobs, failed):
    """What each job returns.

    A job whose packages are not installed is skipped; one that fails says why, and is counted in the list `failed`.
    Neither keeps the others from running.
    """
    for job in jobs:
        try: result = job()
        except ImportError as error: say("skipped:", error)
        except Exception as error:
            say(f"FAILED:\n{traceback.format_exc()}")
            failed.append(error)
        else: yield result


def exponent(sizes, seconds):
    "Slope of a straight line through the logarithms: the power of the size that the cost grows with."
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def apart(mine, theirs):
    "The largest difference, relative to the largest value of the peer."
    return float(np.max(np.abs(np.asarray(mine) - theirs))/np.max(np.abs(theirs)))


def write(table, file):
    text = table.to_csv(index=False, float_format="%.4g")
    write_atomically(file, lambda file: file.write(text.encode()))
