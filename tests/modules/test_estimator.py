"""The contract of scikit-learn: every estimator of the package passes all of its checks, and works inside its tools."""
import os
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import ubic
from ubic import UBICRegressor
from ubic.field import UbicWarning

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
estimators = [
    UBICRegressor(), UBICRegressor(mode="paper"), UBICRegressor(max_size=1, solver="greedy", tau0="P75", gamma=1.0),
]
if find_spec("pysindy"):
    from ubic.solvers import UBICOptimizer
    estimators += [UBICOptimizer(), UBICOptimizer(max_size=1, solver="frols", mode="paper", tau0=0.1)]

expected_failures = {} # estimator → {check: reason}


@parametrize_with_checks(
    estimators, expected_failed_checks=lambda estimator: expected_failures.get(type(estimator).__name__, {}),
)
def test_contract(estimator, check): check(estimator)


def test_checks_that_need_another_setting():
    "One check skips itself unless SciPy was told of other kinds of arrays before it was imported."
    code = """
import warnings, sklearn.utils.estimator_checks as checks, ubic
warnings.simplefilter("ignore")
done = checks.check_estimator(ubic.UBICRegressor(), on_fail=None, on_skip=None)
failed = [(found["check_name"], found["status"]) for found in done if found["status"] != "passed"]
print(failed)
"""
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_estimator_is_left_out():
    found = {UBICRegressor}
    for module in pkgutil.iter_modules(ubic.__path__):
        if module.name == "jets" and not find_spec("torch"): continue
        members = vars(import_module(f"ubic.{module.name}")).values()
        classes = {value for value in members if isinstance(value, type) and issubclass(value, BaseEstimator)}
        found |= {cls for cls in classes if cls.__module__.startswith("ubic")}
    assert found <= {type(estimator) for estimator in estimators}


# --- what the checks do not ask -------------------------------------------------------------------

@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((300, 4)), columns=["u", "u_x", "u_xx", "u^2"])
    return X, 2*X["u_xx"] - X["u"] + 0.01*rng.standard_normal(300)


def test_names_and_zero_columns(table):
    X, y = table[0].assign(u_x=0.0), table[1]
    with pytest.warns(UbicWarning, match="u_x"): model = UBICRegressor().fit(X, y)
    assert list(X.columns[model.support_]) == ["u", "u_xx"] and np.allclose(model.predict(X), y, atol=0.1)
    assert list(map(str, model.selection_.terms)) == ["u", "u_xx"]


def test_settings_are_only_stored():
    model = UBICRegressor(max_size=3, tau0="P75")
    assert clone(model).get_params() == model.get_params() and vars(model) == model.get_params()


def test_inside_the_tools(table):
    X, y = table
    assert cross_val_score(UBICRegressor(), X, y, cv=3).min() > 0.99
    search = GridSearchCV(
        make_pipeline(StandardScaler(with_mean=False), UBICRegressor()), {"ubicregressor__max_size": [1, 2, 3]}, cv=3,
    ).fit(X, y)
    assert search.best_params_["ubicregressor__max_size"] >= 2 and search.best_score_ > 0.99


def test_one_row_is_told():
    with pytest.raises(ValueError, match="1 sample"): UBICRegressor().fit([[1.0, 2.0]], [1.0])


@pytest.mark.skipif(not find_spec("pysindy"), reason="this needs ubic[sindy]")
class TestOptimizer:
    def test_shapes_follow_the_target(self, table):
        X, y = table
        one, other = UBICOptimizer().fit(X, y), UBICOptimizer().fit(X.values, y.values[:, None])
        assert one.predict(X).shape == (300,) and other.predict(X.values).shape == (300, 1)
        np.testing.assert_array_equal(one.coef_, other.coef_)
        assert one.coef_.shape == (1, 4) and one.ind_.tolist() == [[True, False, True, False]] and one.complexity == 2
        assert list(one.feature_names_in_) == list(X.columns) and one.set_params(max_size=1) is one

    def test_samples_without_a_derivative_are_left_out(self, table):
        X, y = table[0].to_numpy(copy=True), table[1].to_numpy(copy=True)
        X[:3], y[-2:] = np.nan, np.nan
        np.testing.assert_array_equal(UBICOptimizer().fit(X, y).coef_, UBICOptimizer().fit(X[3:-2], y[3:-2]).coef_)
        X[10, 1] = np.nan
        with pytest.raises(ValueError, match="NaN"): UBICOptimizer().fit(X, y)

    def test_ensembles_of_pysindy(self, table):
        from pysindy.optimizers import EnsembleOptimizer
        X, y = table
        np.random.seed(0)
        found = EnsembleOptimizer(UBICOptimizer(), bagging=True, n_models=5).fit(X.values, y.values[:, None])
        assert np.flatnonzero(found.coef_[0]).tolist() == [0, 2] and len(found.coef_list) == 5

    def test_a_fitted_one_can_be_kept(self, table):
        found = UBICOptimizer().fit(*table)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).predict(table[0]), found.predict(table[0]))
