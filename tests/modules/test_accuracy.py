"""Refits of chosen terms: published numbers, known answers on clean data, the slow way beside the fast one, bad input.
"""
import numpy as np
import pytest
from scipy.signal import savgol_filter

import ubic
from ubic import accuracy, recipes
from ubic.accuracy import convolutional_weak_form, denoised_weak_form
from ubic.paper.accuracy import Windows, corner_of, cumulative_spectrum, draw_windows
from ubic.field import as_field
from ubic.terms import parse_term

TERMS = {"burgers": ["u_xx", "u*u_x"], "kdv": ["u_xxx", "u*u_x"], "ks": ["u*u_x", "u_xx", "u_xxxx"]}


def front(points=141, frames=61, nu=0.25, speed=0.5, height=0.6):
    "A front that solves Burgers' equation exactly."
    x, t = np.linspace(-6, 8, points), np.linspace(0, 6, frames)
    return as_field(speed - height*np.tanh(height*(x[:, None] - speed*t)/2/nu), x=x, t=t)


FRONT = {"u_xx": 0.25, "u*u_x": -1.0}


def authors(reference, name, denoised):
    "The published arrays as a field; the noisy one is the clean one with the published random numbers."
    clean = np.load(reference/f"{name}_clean.npz")
    u = clean["u"]
    noisy = u + 0.3*u.std()*np.random.RandomState(0).standard_normal(u.shape)
    values = np.load(reference/f"{name}_denoised_authors.npz")["u"].astype(float) if denoised else noisy
    return as_field(values, x=clean["x"].ravel(), t=clean["t"].ravel())


@pytest.mark.parametrize("name, alpha, order, coef", [
    ("burgers", 23, 2, [0.10003616, -1.0001127]),
    ("kdv", 29, 4, [-0.99420847, -1.00141073]),
    ("ks", 3, 4, [-0.99404, -0.99839, -1.00064]),
])
def test_denoised_weak_form_is_the_published_one(reference, name, alpha, order, coef):
    field, settings = authors(reference, name, True), recipes.refit_settings[name]["denoised_weak_form"]
    found = denoised_weak_form(field, TERMS[name], windows=10_000, seed=np.random.RandomState(0), **settings)
    assert (found.alpha, found.order, found.rows) == (alpha, order, 10_000)
    np.testing.assert_allclose(found.coef, coef, atol=1e-5 if name == "ks" else 2e-8)


@pytest.mark.parametrize("name, denoised, box, coef", [
    ("burgers", False, {"x": (66, 7), "t": (46, 8)}, [0.0970429, 2*-0.497498]),
    ("burgers", True, None, [0.10246212, -1.00135279]),
    ("kdv", True, None, [-0.9950437, 2*-0.50073689]),
    ("ks", True, None, [-0.9864535, -0.9925579, -0.9911829]),
])
def test_convolutional_weak_form_is_the_published_one(reference, name, denoised, box, coef):
    settings = recipes.refit_settings[name]["convolutional_weak_form"]
    found = convolutional_weak_form(authors(reference, name, denoised), TERMS[name], **settings)
    if box: assert found.box == box and found.rows == 125
    np.testing.assert_allclose(found.coef, coef, atol=2e-6 if not denoised else 6e-8)


@pytest.mark.parametrize("name", TERMS)
def test_convolutional_weak_form_on_noisy_data_has_the_published_error(name):
    found = accuracy.reproduce(name, "convolutional_weak_form", denoised=False)
    paper = recipes.published_refits.loc[(name, "convolutional_weak_form", False), "%CE"]
    assert abs(found.errors(ubic.field.true_pde(recipes.clean(name))["u"]).mean() - paper) < 6e-5


def test_clean_front_is_recovered():
    assert denoised_weak_form(front(), list(FRONT), alphas=1, order=6).errors(FRONT).max() < 1e-3
    assert convolutional_weak_form(front(), list(FRONT)).errors(FRONT).max() < 1e-6
    assert denoised_weak_form(front(), list(FRONT)).errors(FRONT).max() < 0.5


@pytest.mark.parametrize("alpha", [1, 3, 7, 15])
def test_integrals_are_those_of_windows_filtered_one_by_one(alpha):
    field = ubic.add_noise(front(50, 40), 20, seed=0)
    windows = Windows(field, 19, 3, 4)
    terms = [parse_term(term) for term in ("u_xx", "u*u_x", "u^3", "1")]
    table = windows.table(terms, "u", alpha).reshape(*windows.shape, -1)
    for i, j in ((0, 0), (31, 21), (12, 5)):
        inside = field.u.values[i:i + 19, j:j + 19]
        if alpha > 1: inside = savgol_filter(inside, alpha, 2, axis=1)
        def integral(values, d=0, e=0): return windows.weights("x", d) @ values @ windows.weights("t", e)
        powers = [integral(inside, 2), -integral(inside**2, 1)/2, integral(inside**3)]
        slow = [*powers, integral(np.ones((19, 19))), -integral(inside, 0, 1)]
        np.testing.assert_allclose(table[i, j], slow, rtol=1e-10, atol=1e-13)


def test_legacy_windows_are_drawn_one_by_one():
    rng, shape = np.random.RandomState(0), (183, 28)
    expected = [np.ravel_multi_index((rng.randint(0, 183), rng.randint(0, 28)), shape) for _ in range(100)]
    assert draw_windows(np.random.RandomState(0), shape, 100).tolist() == expected
    first, second = (draw_windows(np.random.default_rng(1), shape, 100) for _ in range(2))
    assert (first == second).all()


def test_seeds_decide():
    field = ubic.add_noise(front(), 10, seed=0)
    def coef(seed): return denoised_weak_form(field, list(FRONT), windows=50, order=3, seed=seed).coef
    assert (coef(1) == coef(1)).all() and (coef(1) != coef(2)).any()
    before = np.random.get_state()[1].copy()
    coef(3)
    assert (np.random.get_state()[1] == before).all()


def test_corner_lies_between_signal_and_noise():
    x = np.arange(200)/200*2*np.pi
    waves = sum(np.cos(k*x[:, None] + np.arange(50)) for k in range(1, 16))
    u = waves + 0.01*np.random.default_rng(0).standard_normal((200, 50))
    total = cumulative_spectrum(u, 0)
    assert total.index[0] == 100 and len(total) == 100 and 8 <= corner_of(total) <= 15


def test_units_do_not_matter():
    field = ubic.add_noise(front(), 5, seed=0)
    stretched = field.assign(u=field.u*3).assign_coords(x=field.x*10, t=field.t*0.1)
    scale = np.array([10**2/0.1, 10/0.1/3])
    settings = {denoised_weak_form: dict(alphas=[3, 9], order=3), convolutional_weak_form: {}}
    for method, options in settings.items():
        def coef(field): return method(field, list(FRONT), **options).coef
        np.testing.assert_allclose(coef(stretched), coef(field)*scale, rtol=1e-8)


def test_several_axes_and_unknowns():
    x, y, t = np.arange(40)/40*2*np.pi, np.arange(44)/44*2*np.pi, np.linspace(0, 2, 41)
    X, Y, T = np.meshgrid(x, y, t, indexing="ij")
    u = np.exp(-0.2*T)*np.sin(X + Y - 0.5*T) + np.exp(-0.1*T)*np.cos(X - 0.5*T)
    v = np.exp(-T)*np.cos(X + 2*Y) + np.exp(-0.2*T)*np.sin(Y)
    field = as_field({"u": u, "v": v}, x=x, y=y, t=t)
    for target, pde in {"u": {"u_xx": 0.1, "u_yy": 0.1, "u_x": -0.5}, "v": {"v_xx": 0.2, "v_yy": 0.2}}.items():
        assert denoised_weak_form(field, list(pde), target, divisor=2, alphas=1, order=4).errors(pde).max() < 1
        assert convolutional_weak_form(field, list(pde), target).errors(pde).max() < 1e-4


def test_results_show_themselves():
    import matplotlib
    matplotlib.use("Agg")
    denoised = denoised_weak_form(front(), list(FRONT), alphas=[3, 5])
    convolutional = convolutional_weak_form(front(), list(FRONT))
    assert repr(denoised).startswith("u_t = 0.2") and "α = " in repr(denoised) and "query points" in repr(convolutional)
    assert list(denoised.table().index) == [3, 5] and (denoised.table()["chosen"] == "✓").sum() == 1
    assert list(convolutional.table().index) == ["x", "t"]
    assert denoised.plot(FRONT).get_xlabel() and len(convolutional.plot()) == 2
    assert denoised.equation.target == "u_t" and "<p>" in convolutional._repr_html_()


@pytest.mark.parametrize("method", [denoised_weak_form, convolutional_weak_form])
@pytest.mark.parametrize("terms, given, error, says", [
    (["u*u_xx"], {}, ValueError, "`terms` has u.u_xx, which keeps a derivative"),
    ([], {}, ValueError, "`terms` is empty"),
    (None, {}, TypeError, "`terms` is None"),
    ("u_xx", {}, TypeError, "`terms` must be a list"),
    (["v_xx"], {}, ValueError, "no 'v'"),
    (["u_xx"], {"target": "w"}, ValueError, "`target` must be one of u"),
    (["u_xx"], {"target": ["u"]}, TypeError, "name one unknown"),
])
def test_bad_input_to_both(method, terms, given, error, says):
    with pytest.raises(error, match=says): method(front(), terms, **given)


@pytest.mark.parametrize("method, given, error, says", [
    (denoised_weak_form, {"divisor": 1.5}, ValueError, "`divisor` is 1.5, which makes windows of 95 points"),
    (denoised_weak_form, {"divisor": "x"}, TypeError, "`divisor` is 'x'"),
    (denoised_weak_form, {"divisor": float("nan")}, ValueError, "`divisor` is nan"),
    (denoised_weak_form, {"divisor": 50}, ValueError,
     "windows of 3 points, and at least 11 are needed; give at most 14.1"),
    (denoised_weak_form, {"alphas": 4}, ValueError, "odd number"),
    (denoised_weak_form, {"alphas": [2.5]}, ValueError, "`alphas` is 2.5"),
    (denoised_weak_form, {"alphas": 61}, ValueError, "from 1 to 41"),
    (denoised_weak_form, {"alphas": []}, ValueError, "`alphas` is empty"),
    (denoised_weak_form, {"windows": 1}, ValueError, "`windows` is 1"),
    (denoised_weak_form, {"order": 1}, ValueError, "`order` is 1"),
    (denoised_weak_form, {"accuracy": 3}, ValueError, "`accuracy` must be 2, 4, 6 or 8"),
    (denoised_weak_form, {"seed": -1}, ValueError, "`seed` is -1"),
    (convolutional_weak_form, {"tau": 2}, ValueError, "`tau` is 2"),
    (convolutional_weak_form, {"tau": "x"}, TypeError, "`tau` is 'x'"),
    (convolutional_weak_form, {"tauhat": 0}, ValueError, "`tauhat` is 0"),
    (convolutional_weak_form, {"derivative_order": 1}, ValueError, "`derivative_order` is 1"),
    (convolutional_weak_form, {"queries": 0}, ValueError, "`queries` is 0"),
])
def test_bad_settings(method, given, error, says):
    with pytest.raises(error, match=says): method(front(), ["u_xx", "u*u_x"], **given)


@pytest.mark.parametrize("method", [denoised_weak_form, convolutional_weak_form])
def test_short_axes_are_refused(method):
    with pytest.raises(ValueError, match="the axis t has 8 points, and .* need at least 11"):
        method(front().isel(t=slice(8)), ["u_xx"])


def test_terms_that_are_the_same_are_refused():
    x, t = np.linspace(0, 6, 61), np.linspace(0, 2, 41)
    decay = as_field(np.sin(x)[:, None]*np.exp(-t), x=x, t=t)
    with pytest.raises(ValueError, match="cannot be told apart"): denoised_weak_form(decay, ["u", "u_xx"])


def test_unknown_experiments_are_refused():
    with pytest.raises(ValueError, match="`name` must be one of burgers, kdv, ks"): accuracy.reproduce("gray_scott")
    with pytest.raises(ValueError, match="`method` must be one of"): accuracy.reproduce("kdv", "strong")
