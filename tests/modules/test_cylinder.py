"The wake of a cylinder: its frames, and channels and records that cannot be."
from dataclasses import replace

import numpy as np
import pytest

from ubic.cylinder import Channel, velocity_factors, wake

CHANNEL = Channel(length=8, height=4, points=(64, 32), step=0.04, radius=0.4, edge=0.2, upstream=2.0)


def test_wake_frames():
    x, y = np.linspace(1, 4, 7), np.linspace(-1, 1, 5)
    frames = list(wake([(CHANNEL, 0.4), (replace(CHANNEL, points=(96, 48)), 0.2)], x, y, 3, 0.2))
    assert len(frames) == 3 and all(frame.shape == (3, 7, 5) and np.isfinite(frame).all() for frame in frames)
    along, across = CHANNEL.waves
    _, u, v = velocity_factors(CHANNEL)
    assert np.abs(along*u + across*v).max() < 1e-13


@pytest.mark.parametrize("change, message", [
    ({"step": 0.1}, "`step`"), ({"brake": 0}, "`brake`"),
    ({"points": (64, 4)}, "`points`"), ({"edge": "thin"}, "`edge`"),
])
def test_impossible_channels(change, message):
    with pytest.raises((ValueError, TypeError), match=message): replace(CHANNEL, **change)


@pytest.mark.parametrize("frames, interval, message", [
    (0, 0.2, "`frames`"), (2, 0.05, "`interval`"), (2, -0.2, "`interval`"),
])
def test_impossible_records(frames, interval, message):
    made = wake([(CHANNEL, 0.2)], np.ones(3), np.ones(3), frames, interval)
    with pytest.raises(ValueError, match=message): next(made)
