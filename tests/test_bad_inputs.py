"""Inputs that must not surprise anyone: one table of what is refused and what is warned about, from the library to the criterion."""
import re
import warnings

import numpy as np
import pytest

from ubic.criterion import select
from ubic.field import UbicWarning, as_field
from ubic.library import strong, weak
from ubic.pipeline import discover
from ubic.posterior import evidence, posterior
from ubic.refit import total_least_squares
from ubic.solvers import mixed_integer
from ubic.subsets import best_subsets
from ubic.system import LinearSystem, from_triangle

rng = np.random.default_rng(0)
x, t = np.linspace(0, 10, 80), np.linspace(0, 2, 60)
u = np.sin(x[:, None] - t) + 0.4*np.sin(2*x[:, None] + t)
field, two = as_field(u, x=x, t=t), as_field({"u": u, "v": u**2}, x=x, t=t)
X, noise = rng.standard_normal((50, 4)), rng.standard_normal(50)
y = X @ [1.0, 0, -2.0, 0] + 0.1*noise
plain = best_subsets(LinearSystem(X, y))
steady = np.repeat(np.sin(x)[:, None], 60, 1)


def system(**changes): return LinearSystem(**{"X": X, "y": y, **changes})
def with_column(column): return np.column_stack([X, column])


refused = [ # row of the list of bad inputs, what is done, exception, words of the message
    ("18 fewer rows than candidates", lambda: system(X=X[:4], y=y[:4]), ValueError, "`X` has 4 rows for 4 candidates"),
    ("18 fewer boxes than candidates", lambda: weak(field, rows=5), ValueError, "`rows` is 5 for 8 candidates"),
    ("18 fewer boxes, other form", lambda: weak(field, rows=5, form="pysindy"), ValueError, "`rows` is 5 for 8 candidates"),
    ("19 no boxes", lambda: weak(field, rows=0), ValueError, "`rows` is 0; give a whole number"),
    ("19 negative boxes", lambda: weak(field, rows=-3), ValueError, "`rows` is -3; give a whole number"),
    ("19 fractional boxes", lambda: weak(field, rows=99.5), ValueError, "`rows` is 99.5; give a whole number"),
    ("19 boxes in words", lambda: weak(field, rows="many"), ValueError, "`rows` is 'many'; give a whole number"),
    ("20 order below the derivative", lambda: weak(field, order=1), ValueError, "`order` along x is 1.*at least 2"),
    ("20 order below the derivative, other form", lambda: weak(field, order=1, form="pysindy"), ValueError, "`order` along x is 1.*at least 2"),
    ("20 order zero in time", lambda: weak(field, order={"t": 0}), ValueError, "`order` along t is 0.*at least 1"),
    ("20 fractional order", lambda: weak(field, order=3.5), ValueError, "`order` along x is 3.5"),
    ("21 window wider than the axis", lambda: weak(field, half_width=6), ValueError, "`half_width` along x is 6.*below half of the axis, 5"),
    ("21 window wider than the axis, other form", lambda: weak(field, half_width={"t": 1.5}, form="pysindy"), ValueError, "`half_width` along t is 1.5.*below.* 1"),
    ("21 negative window", lambda: weak(field, half_width=-1), ValueError, "`half_width` along x is -1.*positive"),
    ("21 window that is not a number", lambda: weak(field, half_width=np.nan), ValueError, "`half_width` along x is nan"),
    ("21 window on another axis", lambda: weak(field, half_width={"y": 1}), ValueError, "`half_width` has no axis 'y'"),
    ("21 window below the spacing", lambda: weak(field, half_width={"x": 0.02}, form="pysindy"), ValueError, "`half_width` along x is 0.02"),
    ("21 window of a point", lambda: weak(field, half_width={"x": 0.13}), ValueError, "along x reach over 1 .* 5 are needed; make `half_width` wider"),
    ("18 boxes too wide to leave rows", lambda: weak(field, half_width={"x": 4.93, "t": 0.98}), ValueError, "`X` has . rows for 8 candidates"),
    ("25 constant field", lambda: weak(as_field(0*u + 3, x=x, t=t)), ValueError, "nothing to identify"),
    ("26 steady field", lambda: weak(as_field(steady, x=x, t=t)), ValueError, "nothing to identify"),
    ("26 steady target", lambda: system(y=0*y), ValueError, "`y` is zero everywhere.*nothing to identify"),
    ("30 all columns zero", lambda: system(X=0*X), ValueError, "`X` is zero everywhere.*nothing to identify"),
    ("32 size zero", lambda: best_subsets(system(), 0), ValueError, "`max_size` is 0; give a whole number from 1 to 4"),
    ("32 size above the candidates", lambda: best_subsets(system(), 5), ValueError, "`max_size` is 5; give a whole number from 1 to 4"),
    ("32 fractional size", lambda: best_subsets(system(), 2.5), ValueError, "`max_size` is 2.5; give a whole number from 1 to 4"),
    ("32 unknown solver", lambda: best_subsets(system(), solver="magic"), ValueError, "`solver` must be one of exact.*found 'magic'"),
    ("32 not a system", lambda: best_subsets(X), TypeError, "`system` must be a LinearSystem, found ndarray"),
    ("33 too many candidates", lambda: best_subsets(LinearSystem(rng.standard_normal((310, 300)), rng.standard_normal(310)), 300), ValueError,
     r"`solver='exact'` would need 65 GB for 300 candidates up to size 300.*`max_size`.*greedy"),
    ("34 duplicate names", lambda: system(terms=["u", "u_x", "u", "u^2"]), ValueError, "`terms` names u more than once"),
    ("34 names equal after reading", lambda: system(terms=["u*u_x", "u_x*u", "u", "u^2"]), ValueError, r"`terms` names u\*u_x more than once"),
    ("34 empty name", lambda: system(terms=["u", " ", "v", "w"]), ValueError, "`terms` has an empty name"),
    ("34 too few names", lambda: system(terms=["u", "v"]), ValueError, "`terms` has 2 names for 4 columns"),
    ("34 too many names", lambda: system(terms=list("abcde")), ValueError, "`terms` has 5 names for 4 columns"),
    ("34 no candidates", lambda: weak(field, terms=[]), ValueError, "`terms` is empty"),
    ("34 term of another unknown", lambda: weak(field, terms=["u", "v"]), ValueError, "`terms` has v, but the field has no 'v'; it has u"),
    ("34 term along another axis", lambda: weak(field, terms=["u_yy"]), ValueError, "`terms` has u_yy.*no space axis 'y'"),
    ("34 time derivative as a candidate", lambda: weak(field, terms=["u_t"]), ValueError, "`terms` has u_t.*raise `time_order`"),
    ("34 term that cannot be read", lambda: weak(field, terms=["sin(u)"]), ValueError, r"`term` 'sin\(u\)'"),
    ("34 the same term twice", lambda: weak(field, terms=["u_x", "u_x"]), ValueError, "`terms` names u_x more than once"),
    ("35 several unknowns, no target", lambda: weak(two), ValueError, "`target` must be one of u, v, found several unknowns"),
    ("35 unknown target", lambda: strong(two, "w"), ValueError, "`target` must be one of u, v, found 'w'"),
    ("35 two target columns", lambda: system(y=np.column_stack([y, y])), ValueError, r"`y` must be one target, found shape \(50, 2\)"),
    ("35 lengths differ", lambda: system(y=y[:-1]), ValueError, "`X` has 50 rows and `y` has 49"),
    ("35 one column without rows", lambda: system(X=y), ValueError, "`X` must have rows and columns"),
    ("1 NaN in the matrix", lambda: system(X=np.where(X == X[3, 2], np.nan, X)), ValueError, r"`X` has 1 values.*NaN.*\(3, 2\)"),
    ("2 infinity in the target", lambda: system(y=np.where(y == y[7], np.inf, y)), ValueError, r"`y` has 1 values.*\(7,\)"),
    ("3 complex matrix", lambda: system(X=X + 1j), TypeError, "`X` must hold real numbers, found dtype complex128"),
    ("6 strings", lambda: system(X=X.astype(str)), TypeError, "`X` must hold real numbers"),
    ("38 threshold zero", lambda: select(plain, tau0=0), ValueError, "`tau0` must be positive, found 0"),
    ("38 negative threshold", lambda: select(plain, tau0=-0.1), ValueError, "`tau0` must be positive, found -0.1"),
    ("38 threshold NaN", lambda: select(plain, tau0=np.nan), ValueError, "`tau0` must be positive, found nan"),
    ("38 percentile above 100", lambda: select(plain, tau0="P101"), ValueError, "`tau0`.*'P0' to 'P100', found 'P101'"),
    ("38 percentile below 0", lambda: select(plain, tau0="P-1"), ValueError, "`tau0`.*'P0' to 'P100', found 'P-1'"),
    ("38 percentile in words", lambda: select(plain, tau0="high"), ValueError, "`tau0`.*found 'high'"),
    ("38 threshold of another type", lambda: select(plain, tau0=[0.1]), TypeError, "`tau0` must be a number or a percentile"),
    ("38 no steps", lambda: select(plain, n_delta=0), ValueError, "`n_delta` is 0; give a whole number of at least 1"),
    ("38 fractional steps", lambda: select(plain, n_delta=1.5), ValueError, "`n_delta` is 1.5; give a whole number"),
    ("38 negative scale", lambda: select(plain, gamma=-1), ValueError, "`gamma` is -1; give a positive"),
    ("38 infinite scale", lambda: select(plain, gamma=np.inf), ValueError, "`gamma` is inf; give a positive"),
    ("38 scale in words", lambda: select(plain, gamma="a"), TypeError, "`gamma` is 'a'; give a positive number"),
    ("38 system instead of a path", lambda: select(plain.system), TypeError, "`path` must be a SubsetPath, found LinearSystem"),
    ("21 width zero", lambda: weak(field, half_width=0), ValueError, "`half_width` along x is 0"),
    ("21 width in words", lambda: weak(field, half_width="a"), TypeError, "`half_width` along x must be a number"),
    ("20 order zero", lambda: weak(field, order=0), ValueError, "`order` along x is 0"),
    ("19 more boxes than fit", lambda: weak(field, rows=10**7), ValueError, "`rows` is 10000000, but this field has room for"),
    ("5 numbers too large", lambda: system(X=X*1e200), ValueError, "beyond what can be squared safely"),
    ("38 unknown mode", lambda: select(plain, mode="best"), ValueError, "`mode` must be 'unit_free' or 'paper', found 'best'"),
    ("38 rows counted", lambda: select(plain, n_eff=0.5), ValueError, "`n_eff`.*above 1, found 0.5"),
    ("38 rows counted in words", lambda: select(plain, n_eff="all"), ValueError, "`n_eff`.*found 'all'"),
    ("38 rows of a system", lambda: system(n_eff=0), ValueError, "`n_eff` is 0; give a positive"),
    ("39 indefinite prior", lambda: posterior(X, y, 0.1, prior_cov=np.diag([1.0, 1, 1, -0.5])), ValueError, "`prior_cov` must be positive definite.*-0.5"),
    ("39 singular prior", lambda: posterior(X, y, 0.1, prior_cov=np.zeros((4, 4))), ValueError, "`prior_cov` must be positive definite.*0"),
    ("39 asymmetric prior", lambda: posterior(X, y, 0.1, prior_cov=np.eye(4) + np.eye(4, k=1)), ValueError, "`prior_cov` must be a symmetric 4 × 4"),
    ("39 prior of another size", lambda: posterior(X, y, 0.1, prior_cov=np.eye(3)), ValueError, r"`prior_cov`.*found shape \(3, 3\)"),
    ("39 unknown prior mean", lambda: posterior(X, y, 0.1, prior_mean="ridge"), ValueError, "`prior_mean`.*found 'ridge'"),
    ("39 indefinite prior on a path", lambda: evidence(plain, prior_cov=lambda size: -np.eye(size)), ValueError, "`prior_cov` must be positive definite"),
    ("17 axis too short for boxes", lambda: weak(field.isel(t=slice(0, 15))), ValueError, "along t reach over 4 .*at least 17 points, found 15"),
    ("17 axis too short for differences", lambda: strong(field.isel(t=slice(0, 4))), ValueError, "axis has 4 points.*`accuracy=4`.*at least 6"),
    ("17 one point short for differences", lambda: strong(field.isel(t=slice(0, 5))), ValueError, "axis has 5 points.*at least 6"),
    ("34 a term twice", lambda: weak(field, terms=["u_xx", "u*u_x", "u_x*u"]), ValueError, r"`terms` names u\*u_x more than once"),
    ("39 matrix instead of a function", lambda: evidence(plain, prior_cov=np.eye(4)), TypeError, "`prior_cov` must be a function"),
    ("39 NaN in the prior", lambda: posterior(X, y, 0.1, prior_cov=np.full((4, 4), np.nan)), ValueError, "`prior_cov`.*NaN"),
    ("1 NaN in a posterior", lambda: posterior(X*np.nan, y, 0.1), ValueError, "`R`.*NaN"),
    ("36 negative variance", lambda: posterior(X, y, -1.0), ValueError, "`noise_variance` is -1"),
    ("17 crop of everything", lambda: strong(field, crop=40), ValueError, "`crop` is 40"),
    ("40 setting that does not exist", lambda: discover(field, windwo=3), TypeError, "`windwo` is no setting of `discover`"),
    ("40 settings beside a recipe", lambda: discover(field, recipe="burgers", terms=["u"]), TypeError, "`recipe` stands for all settings; leave out terms"),
    ("40 recipe for another kind of field", lambda: discover(field, recipe="reaction_diffusion"), ValueError, "`recipe` 'reaction_diffusion' does not suit this field: "),
    ("40 denoised onto another grid", lambda: discover(field, denoise=lambda ds: ds.isel(x=slice(0, 50))), ValueError, "`denoise` returned a field of sizes .* on another grid"),
    ("40 denoised into other unknowns", lambda: discover(field, denoise=lambda ds: ds.rename(u="v")), ValueError, "`denoise` returned a field of v; it must keep the unknowns u"),
    ("40 denoised into an array", lambda: discover(field, denoise=lambda ds: ds.u.values), TypeError, "`denoise` returned a ndarray"),
    ("40 no target", lambda: discover(field, target=[]), ValueError, "`target` is empty"),
    ("40 target that is known", lambda: weak(field.assign(v=field.u**2), "v", known="v"), ValueError, "`target` 'v' is among the `known` fields"),
    ("40 known field that is missing", lambda: weak(field, known="v"), ValueError, "`known` has 'v', but the field has u"),
    ("40 nothing unknown", lambda: weak(field, known="u"), ValueError, "`known` names all of u"),
    ("40 known field itself", lambda: weak(field, known=field.u), TypeError, "`known` is a DataArray; give a name"),
    ("40 accuracy of text", lambda: weak(field, form="pysindy", accuracy="a"), ValueError, "`accuracy` must be 2, 4, 6 or 8, found 'a'"),
    ("40 several targets of one fit", lambda: total_least_squares(field, ["u_xx"], ["u", "v"]), TypeError, "`target` is .*; name one unknown"),
    ("40 unknown formulation", lambda: mixed_integer(LinearSystem(X, y), 2, formulation="miq"), ValueError, "`formulation` must be one of miqp, sos1, found 'miq'"),
    ("40 rows that were not kept", lambda: from_triangle(LinearSystem(X, y).R, 100).X, ValueError, "rows of this system were not kept"),
    ("40 unknown form", lambda: weak(field, form="strange"), ValueError, "`form` must be 'conservative' or 'pysindy', found 'strange'"),
]


@pytest.mark.parametrize("call, kind, words", [case[1:] for case in refused], ids=[case[0] for case in refused])
def test_refused_with_one_sentence(call, kind, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UbicWarning)
        with pytest.raises(kind, match=words) as caught: call()
    one_sentence(str(caught.value))


def one_sentence(message):
    assert message.endswith(".") and "\n" not in message
    assert not re.search(r"[a-z)'`]\. [A-Z]", message), "more than one sentence"


def perfect(mode): return lambda: select(best_subsets(LinearSystem(X, X @ [1.0, 0, -2.0, 0])), mode=mode)
def hopeless(mode): return lambda: select(best_subsets(LinearSystem(X[:, :2], 1e3*noise)), mode=mode)


decay = np.repeat(np.exp(-t)[None], 80, 0)
warned = [ # row, what is done, words of the warning, what holds for the result
    ("27 weak terms along a flat axis", lambda: weak(as_field(decay, x=x, t=t)), "dropped terms that vanish.*u_x", lambda s: list(map(str, s.terms)) == ["u", "u^2"]),
    ("27 strong terms along a flat axis", lambda: strong(as_field(decay, x=x, t=t)), "dropped terms that vanish.*u_x", lambda s: list(map(str, s.terms)) == ["u", "u^2"]),
    ("29 singular subsets are skipped", lambda: best_subsets(system(X=np.column_stack([X, X]))), "combinations", lambda path: path.exact and path.certificate["singular"] > 0),
    ("27 no variation along an axis", lambda: as_field(np.repeat(u[:, None], 12, 1), x=x, y=np.arange(12.0), t=t), "u_y", lambda ds: ds.sizes["y"] == 12),
    ("28 duplicate column", lambda: system(X=with_column(X[:, 1])), "combinations of terms before them.*: x4", lambda s: s.p == 5),
    ("28 proportional column", lambda: system(X=with_column(-1e5*X[:, 1])), "combinations.*: x4", lambda s: s.p == 5),
    ("29 dependent column", lambda: system(X=with_column(X @ [1, 2, 0, 3.0])), "combinations.*: x4", lambda s: s.p == 5),
    ("29 search of a rank-deficient library", lambda: best_subsets(system(X=with_column(X @ [1, 2, 0, 3.0]))), "combinations",
     lambda path: path.exact and len(path.supports) == 4 and path.supports[1] == (0, 2) and np.isfinite(path.rss).all()),
    ("29 choice of a rank-deficient library", lambda: select(best_subsets(system(X=with_column(X[:, 0])))), "combinations",
     lambda s: s.size == 2 and np.isfinite(s.coef).all() and np.isfinite(s.ubic).all()),
    ("30 zero column", lambda: system(X=with_column(np.zeros(50)), terms=["a", "b", "c", "d", "e"]), "dropped terms that vanish.*: e", lambda s: list(map(str, s.terms)) == ["a", "b", "c", "d"]),
    ("36 perfect fit", perfect("unit_free"), "fit perfectly", lambda s: s.support == (0, 2) and np.isfinite(s.ubic).all() and np.isfinite(s.std).all()),
    ("36 perfect fit, paper mode", perfect("paper"), "fit perfectly", lambda s: s.support == (0, 2) and np.isfinite(s.ubic).all()),
    ("37 no likelihood above zero", hopeless("paper"), "BIC alone decides", lambda s: s.k == np.argmin(s.bic) and s.lam <= 0 and np.array_equal(s.ubic, s.bic)),
    ("37 nothing explained", hopeless("unit_free"), "BIC alone decides", lambda s: s.k == np.argmin(s.bic) and np.isfinite(s.coef).all()),
    ("38 no pair to rank", lambda: select(best_subsets(LinearSystem(X[:, :1], y)), tau0="P75"), "`tau0='P75'` has nothing to rank", lambda s: s.size == 1 and s.tau0 > 0),
]


@pytest.mark.parametrize("call, words, holds", [case[1:] for case in warned], ids=[case[0] for case in warned])
def test_warned_with_a_defined_result(call, words, holds):
    with pytest.warns(UbicWarning, match=words) as caught: result = call()
    assert holds(result)
    for warning in caught: one_sentence(str(warning.message))


def test_the_least_number_of_points_that_a_message_names_is_enough():
    with pytest.raises(ValueError, match="at least") as caught: weak(field.isel(t=slice(0, 12)))
    assert weak(field.isel(t=slice(0, int(re.search(r"at least (\d+) points", str(caught.value))[1])))).n > 8


def test_ordinary_input_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        select(best_subsets(system()))
        select(best_subsets(system(n_eff=20.0)), mode="paper")
