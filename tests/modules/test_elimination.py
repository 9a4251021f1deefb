"Forward, backward and by exchange, on systems with known answers."
import numpy as np

import ubic
from signs import signs
from ubic.search.elimination import elimination_orders, first_guess, greedy_path


def sum_or_parts():
    "A target h1 + h2 + 0.1 h3; the first candidate is best alone, the two others are best together."
    h1, h2, h3, h4 = signs(64, 4)
    return ubic.LinearSystem(np.stack([h1 + h2 + 0.5*h4, h1, h2], axis=1), h1 + h2 + 0.1*h3)


def test_orthogonal_candidates_come_and_go_by_their_share():
    h1, h2, h3 = signs(64, 3)
    system = ubic.LinearSystem(np.stack([h1, h2, h3], axis=1), h1 + 3*h2 + 2*h3 + 0.1*signs(64, 4)[3])
    forward, backward = elimination_orders(system, 3)
    assert forward.tolist() == backward.tolist() == [1, 2, 0]


def test_a_sum_misleads_those_who_only_add():
    system = sum_or_parts()
    forward, backward = elimination_orders(system, 3)
    assert forward[0] == 0 and set(backward[:2]) == {1, 2}
    path = greedy_path(system, 2)
    assert path.supports == [(0,), (1, 2)]
    np.testing.assert_allclose(path.rss, [64*(0.1**2 + 2 - 4/2.25), 64*0.1**2])
    assert [sorted(map(int, support)) for support in first_guess(system, 2)] == [[0], [1, 2]]
