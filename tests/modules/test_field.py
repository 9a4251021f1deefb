"Fields: what the notebook cannot show, faults, memory order, noise, pictures."
import numpy as np
import pytest

from fields import field, messages, t, u2, u3, with_value, x, y
from ubic.field import Advice, ArgumentError, add_noise, as_field, check_field, plot_field, true_pde
from ubic.ground.checks import UbicWarning


# --- canonical form ---------------------------------------------------------------------------------------------------

def test_check_is_idempotent_and_keeps_precision_and_attributes():
    ds = as_field(u2.astype("float32"), x=x.astype("float32"), t=t).assign_attrs(pde="{}")
    ds.u.attrs["units"] = "m/s"
    again = check_field(ds)
    assert again.identical(ds) and again.u.dtype == np.float32 and again.x.dtype == np.float64


def test_big_endian_values_become_native():
    ds = as_field(u2.astype(">f4"), x=x.astype(">f8"), t=t)
    assert ds.u.dtype == np.float32 and ds.u.dtype.isnative and ds.x.dtype.isnative


def test_scalar_coordinates_are_dropped():
    assert set(check_field(field().assign_coords(run=3)).coords) == {"x", "t"}


# --- what is not refused ----------------------------------------------------------------------------------------------

def test_variation_only_between_the_probed_slices_counts():
    u = np.zeros((9, 7))
    u[2, 1] = 1.0
    as_field(u, x=np.arange(9), t=np.arange(7))


# --- memory order -----------------------------------------------------------------------------------------------------

def interacting(nx, nt):
    "Several waves at several speeds, on an interval that is not a period."
    s, w = np.linspace(-8, 8, nx)[:, None], np.linspace(0, 10, nt)
    return np.exp(-(s + 5 - w)**2) + 0.6 * np.exp(-(s - 0.4 * w)**2 / 2) + 0.2 * np.sin(2 * s + w)


@pytest.mark.parametrize("shape", [(256, 101), (120, 251), (200, 190)])
@pytest.mark.parametrize("percent", [0, 30])
def test_reshaped_instead_of_transposed_is_noticed(shape, percent):
    u = interacting(*shape)
    u = u + percent / 100 * u.std() * np.random.default_rng(1).standard_normal(shape)
    grid = dict(x=np.arange(shape[0]), t=np.arange(shape[1]))
    for torn in (u.T.reshape(shape), u.reshape(shape[::-1]).T):
        with pytest.warns(UbicWarning, match="transposed, not reshaped"): as_field(torn, **grid)


@pytest.mark.parametrize("shape", [(256, 101), (101, 100), (40, 30, 20), (13, 12)])
@pytest.mark.parametrize("seed", range(3))
def test_noise_never_looks_reshaped(shape, seed, recwarn):
    noise = np.random.default_rng(seed).standard_normal(shape)
    grid = dict(zip("xyt" if len(shape) == 3 else "xt", map(np.arange, shape)))
    as_field(noise, **grid)
    if len(shape) == 2:
        u = interacting(*shape)
        for percent in (0, 10, 100, 300): as_field(u + percent / 100 * u.std() * noise, **grid)
    assert not messages(recwarn)


# --- noise ------------------------------------------------------------------------------------------------------------

def test_noise_is_that_of_one_legacy_draw():
    ds = field()
    expected = u2 + 0.3 * u2.std() * np.random.RandomState(0).randn(*u2.shape)
    assert np.allclose(add_noise(ds, 30, seed=np.random.RandomState(0)).u, expected, rtol=0, atol=1e-15)


def test_joint_noise_is_that_of_the_stack():
    ds = as_field({"u": u3, "v": 5 + u3**2}, x=x, y=y, t=t)
    stack = np.stack([ds.u, ds.v], -1)
    expected = stack + 0.1 * stack.std() * np.random.RandomState(100).randn(*stack.shape)
    noisy = add_noise(ds, 10, seed=np.random.RandomState(100), joint=True)
    assert np.allclose(np.stack([noisy.u, noisy.v], -1), expected, rtol=0, atol=1e-13)


def test_separate_noise_draws_one_unknown_after_the_other():
    ds, legacy = as_field({"w": u2, "u": u2**2}, x=x, t=t), np.random.RandomState(0)
    expected = {n: v + 0.01 * v.std() * legacy.randn(*v.shape) for n, v in (("w", u2), ("u", u2**2))}
    noisy = add_noise(ds, 1, seed=np.random.RandomState(0))
    for n in expected: assert np.allclose(noisy[n], expected[n], rtol=0, atol=1e-15)


def test_noise_leaves_the_input_alone_and_keeps_precision():
    ds = as_field(u2.astype("float32"), x=x, t=t).assign_attrs(pde='{"u": {}}')
    before = ds.copy(deep=True)
    noisy = add_noise(ds, 50, seed=np.random.default_rng(3))
    assert ds.identical(before) and noisy.u.dtype == np.float32
    assert noisy.attrs == {"pde": '{"u": {}}', "noise_percent": 50.0}


@pytest.mark.parametrize("percent", [-1, np.nan, np.inf, "ten", None])
def test_bad_noise_level(percent):
    with pytest.raises(ValueError, match="`percent`"): add_noise(field(), percent)


# --- sentences in another voice ---------------------------------------------------------------------------------------

def typed(argument):
    "As somebody might say it who types commands."
    if isinstance(argument, Advice): return " ".join([f"[{argument.name}]", *argument.names])
    return f"--{argument.name}"


SENTENCES = {
    "two axes of a length": (
        lambda: as_field(np.outer(t, t**2), x=t, t=t),
        "`data` has shape (11, 11), and axes of equal length cannot be told apart; "
        "name them, for instance dims=('x', 't').",
        "--data has shape (11, 11), and axes of equal length cannot be told apart; name them, for instance [dims] x t.",
    ),
    "no coordinates": (
        lambda: as_field(u2, dims=("x", "t"), x=x),
        "`t` has no coordinate values; give them, for instance as_field(data, t=t, ...).",
        "--t has no coordinate values; [coords].",
    ),
    "other axes": (
        lambda: check_field(field().rename(x="lon")),
        "`field` has axes ['lon']; rename them so that only x, y, z and t remain.",
        "--field has axes ['lon']; [rename] so that only x, y, z and t remain.",
    ),
    "no x": (
        lambda: check_field(field().rename(x="y")),
        "`field` has axes ('y', 't'); a field needs x, or x and y, or x, y and z, together with t.",
        "--field has axes ('y', 't'); a field needs x, or x and y, or x, y and z, together with t[rename].",
    ),
    "turned round": (
        lambda: as_field(u2.T, x=x, t=t),
        "`data` has shape (11, 31) but the axes x, t have lengths (31, 11); did you mean transpose(1, 0)?",
        "--data has shape (11, 31) but the axes x, t have lengths (31, 11); did you mean transpose(1, 0)?",
    ),
    "a name of the data, which is no argument": (
        lambda: check_field(field().rename(u="power").assign(v=field().u.isel(t=0, drop=True))),
        "`v` has axes ('x',); every unknown and every known field must have all of ('x', 't'): "
        "spread it over the others with v.broadcast_like(...), or leave it out.",
        "`v` has axes ('x',); every unknown and every known field must have all of ('x', 't'): [variables].",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_sentences_keep_the_parts_that_another_voice_says(case):
    call, python, other = SENTENCES[case]
    with pytest.raises(ArgumentError) as caught: call()
    assert str(caught.value) == python and caught.value.sentence(typed) == other


# --- chunks -----------------------------------------------------------------------------------------------------------

def test_chunked_field_is_read_once_by_the_check():
    dask = pytest.importorskip("dask.array")
    reads = []
    def block(block_info=None):
        reads.append(block_info[None]["chunk-location"])
        (a, b), (c, d) = block_info[None]["array-location"]
        return u2[a:b, c:d]
    lazy = dask.map_blocks(block, chunks=((10, 21), (5, 6)), dtype=float, meta=np.empty((0, 0)))
    ds = as_field(lazy, x=x, t=t)
    assert isinstance(ds.u.data, dask.Array) and sorted(reads) == sorted(set(reads)) and len(reads) == 4
    holes = dask.from_array(with_value(np.nan), chunks=8)
    with pytest.raises(ValueError, match="not finite"): as_field(holes, x=x, t=t)


# --- arguments of the wrong kind --------------------------------------------------------------------------------------

def test_ragged_lists():
    with pytest.raises(ValueError, match="`u` cannot"): as_field([[1, 2, 3], [4, 5]], x=x, t=t)
    with pytest.raises(ValueError, match="`x` cannot"): as_field(u2, x=[[1], [2, 3]], t=t)


# --- small things -----------------------------------------------------------------------------------------------------

def test_true_pde():
    assert true_pde(field()) == {}
    with pytest.raises(ValueError, match="JSON"): true_pde(field().assign_attrs(pde="u_t = u"))


def test_plots():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt
    ax = plot_field(field(), cmap="magma")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$t$", "$x$")
    panels = plot_field(as_field(u3, x=x, y=y, t=t))
    assert len(panels) == 4 and panels[-1].get_title() == "$t = 1$"
    deep = as_field(u3[:, :, None] * np.cos(y[:5])[:, None], x=x, y=y, z=y[:5], t=t)
    assert len(plot_field(deep)) == 4 and plot_field(deep, ax=plt.figure().subplots()).get_xlabel() == "$x$"
    assert len(panels[0].figure.axes) == 5 # one color bar
    assert len({panel.collections[0].get_clim() for panel in panels}) == 1 # the same colors
    assert plot_field(deep)[0].get_title() == r"$t = 0,\ z = 0.2$"
    assert plot_field(deep, ax=plt.figure().subplots()).get_title().startswith("$t = 1,")
    assert len(plot_field(deep.isel(t=[0, 5]))) == 2
    assert plot_field(deep, ax=plt.figure().subplots(2, 2)).shape == (2, 2)
    plt.close("all")
