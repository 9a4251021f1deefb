"Equations beside the chosen one: which there are, and which are the same."
import ubic
from signs import signs
from ubic.trial.competitors import distinct, in_terms, neighbors, read_sides


def test_neighbors_have_a_term_more_or_less():
    h1, h2, h3, h4 = signs(64, 4)
    system = ubic.LinearSystem([*zip(h1, h2, h3)], h1 - 0.5*h2 + 0.01*h3 + 0.3*h4, ["u_xx", "u*u_x", "u"])
    chosen = ubic.select(ubic.best_subsets(system))
    assert [in_terms(pde) for pde in neighbors([chosen])] == ["u_t: u_xx, u*u_x", "u_t: u_xx, u*u_x, u", "u_t: u_xx"]


def test_equations_with_the_same_terms_are_one():
    one, other, third = map(read_sides, ({"u": {"u_xx": 1}}, {"u_t": {"u_xx": 2}}, {"u": {"u_xx": 1, "u": 1}}))
    kept, sentences = distinct([one, other, third])
    assert kept == [one, third]
    assert len(sentences) == 1 and sentences[0].startswith("u_t: u_xx is there once, because coefficients are fitted;")
