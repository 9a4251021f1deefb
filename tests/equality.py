"""Equality of results to the last bit, for tests of what must come back unchanged."""
import struct
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import xarray as xr

import ubic
from ubic import LinearSystem


def assert_same(one, other):
    "Equal in type and to the last bit, all the way down."
    assert type(one) is type(other), (type(one), type(other))
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.hasobject: assert_same(one.ravel().tolist(), other.ravel().tolist())
        else: assert one.tobytes() == other.tobytes()
    elif isinstance(one, float) and not isinstance(one, np.generic):
        assert struct.pack("d", one) == struct.pack("d", other)
    elif isinstance(one, np.generic): assert one.tobytes() == other.tobytes()
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other): assert_same(a, b)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for a, b in zip(one.values(), other.values()): assert_same(a, b)
    elif isinstance(one, pd.DataFrame): pd.testing.assert_frame_equal(one, other, check_exact=True)
    elif isinstance(one, pd.Series): pd.testing.assert_series_equal(one, other, check_exact=True)
    elif isinstance(one, xr.Dataset):
        xr.testing.assert_identical(one, other)
        for name in one.variables: assert_same(one[name].values, other[name].values)
    elif type(one).__name__ == "InferenceData":
        a, b = ({group: each[group] for group in each.groups()} for each in (one, other))
        assert_same(a, b)
    elif isinstance(one, LinearSystem): assert_same(vars_of(one), vars_of(other))
    elif isinstance(one, ubic.Discovery): assert_same(parts_of(one), parts_of(other))
    elif is_dataclass(one):
        for field in fields(one): assert_same(getattr(one, field.name), getattr(other, field.name))
    else: assert one == other


def vars_of(system):
    return [
        system.R,
        system.n,
        system.terms,
        system.target,
        system.n_eff,
        system.kept and (system.X, system.y),
        system.dependent,
        system.unit,
        system.scale,
    ]


def parts_of(found): return [found.selections, found.field, found.used, found.validation, found.growth]
