"A small field along a line and one in the plane, by hand, for tests of fields and files."
import numpy as np

from ubic.field import as_field

x, y, t = np.linspace(0, 3, 31), np.linspace(0, 2, 21), np.linspace(0, 1, 11)
u2 = np.sin(2 * x[:, None]) * np.exp(-t) + x[:, None] * t
u3 = np.sin(x[:, None, None] + y[:, None]) * np.exp(-t) + x[:, None, None] * t


def field(**kw):
    "The field along a line; more names are settings of `as_field`."
    return as_field(u2, x=x, t=t, **kw)


def messages(caught):
    "What the warnings say that were caught."
    return [str(w.message) for w in caught]


def with_value(value):
    "The values along a line, with one of them changed."
    u = u2.copy()
    u[4, 5] = value
    return u
