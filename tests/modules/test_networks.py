"Physics-informed networks: they train, they go on after an interruption, and they say what is wrong."
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

pytest.importorskip("torch")

import ubic
from ubic import networks
from ubic.networks import pinn

X, T = np.linspace(0, 2 * np.pi, 32, endpoint=False), np.linspace(0, 4, 21)
SMALL = dict(layers=(5, 5), epochs=4, iterations=30)


@pytest.fixture(scope="module")
def heat():
    return ubic.simulate({"u_xx": 0.1}, xr.Dataset({"u": ("x", np.exp(np.cos(X) - 1))}, {"x": X}), T)


def same(one, other):
    arrays = np.array_equal(one.weights, other.weights) and np.array_equal(one.xi, other.xi)
    return arrays and one.losses.equals(other.losses) and one.bic == other.bic


def test_heat_coefficient_is_found(heat):
    network = pinn(
        {"u_xx": 0.15}, heat, {"t": slice(16)}, {"t": slice(16, None)}, layers=(8, 8), epochs=4, iterations=200,
    )
    assert abs(network.coef["u_t"]["u_xx"] - 0.1) < 0.01 and network.fits
    assert network.table()["relative error"].max() < 0.1


def test_burgers_is_followed_with_a_selection():
    from ubic import recipes
    found = recipes.reproduce("burgers", denoising=False)
    field = recipes.clean("burgers").isel(x=slice(None, None, 4), t=slice(None, None, 4))
    network = pinn(found, field, epochs=3, iterations=200)
    assert list(network.coef["u_t"]) == ["u_xx", "u*u_x"] and network.table().loc["train", "relative error"] < 0.1
    assert np.allclose(network.xi, [0.1, -1], rtol=0.1)


def test_fourth_derivative_and_products_enter_the_loss(heat):
    pde = {"u_xxxx": -0.1, "u_xx": -1, "u*u_x": -1, "1": 0.1, "(u^2)_xx": 0.2}
    network = pinn(pde, heat, dtype="float64", **SMALL)
    assert list(network.coef["u_t"]) == list(map(str, map(ubic.Term.parse, pde)))
    assert np.isfinite(network.losses.values).all()


def test_physics_loss_is_the_residual_of_the_equation(heat):
    "The loss of the last row, from the network's own field differentiated on a fine grid by finite differences."
    fine = heat.interp(x=np.linspace(0, 6, 601), t=np.linspace(0, 4, 401))
    network = pinn(
        {"u_xx": 0.1, "u*u_x": -0.2}, fine, {"x": slice(5, -5, 50), "t": slice(5, -5, 50)}, layers=(4,), epochs=1,
        iterations=20, dtype="float64",
    )
    u, (c, d) = network.predict().u, network.xi
    residual = u.differentiate("t") - c * u.differentiate("x").differentiate("x") - d * u * u.differentiate("x")
    inner = residual.isel(x=slice(5, -5, 50), t=slice(5, -5, 50))
    assert np.isclose(float((inner**2).mean()), network.losses.physics.iloc[-1], rtol=1e-2)


@pytest.mark.parametrize("part", [{}, {"t": slice(5)}], ids=["all points", "a few points"])
def test_losses_are_means_over_points_and_equations(heat, part):
    "A network of zeros says that u = v = 0, so it misses u_t = 2 by 2 and v_t = 4 by 4 everywhere."
    import torch
    two = heat.assign(v=2*heat.u)
    network = pinn({"u": {"1": 2.0}, "v": {"1": 4.0}}, two, part, physics=part, **SMALL)
    data, physics = networks.loss_function(network.problem, "cpu")(
        torch.zeros(len(network.weights)), torch.tensor([2.0, 4.0]),
    )
    seen = two.isel(part)
    assert float(physics) == pytest.approx((2**2 + 4**2)/2)
    assert float(data) == pytest.approx(float((seen.u**2).mean() + (seen.v**2).mean())/2, rel=1e-5)


def test_equation_beyond_the_training_part(heat):
    "The same points given twice change nothing; others enter the loss of the equation only."
    train = {"t": slice(10)}
    settings = dict(dtype="float64", layers=(4,), epochs=1, iterations=8)
    one, same_points, everywhere = (
        pinn({"u_xx": 0.1}, heat, train, physics=physics, **settings) for physics in (None, train, {})
    )
    assert np.allclose(one.weights, same_points.weights, rtol=1e-6)
    assert not np.allclose(one.weights, everywhere.weights, rtol=1e-3)
    assert list(everywhere.table().index) == ["train", "validation"]


def test_system_and_second_derivative_in_time(heat):
    pair = heat.assign(v=2 * heat.u)
    network = pinn({"u": {"u_xx": 0.1}, "v": {"v_xx": 0.1, "u": 0.0}}, pair, **SMALL)
    assert network.problem.widths[-1] == 2
    assert set(network.predict().data_vars) == {"u", "v"}
    assert len(network.equations) == 2
    network = pinn({"u_tt": {"u_xx": 1.0}}, heat, **SMALL)
    assert str(network.equations[0]).startswith("u_tt = ")
    assert network._repr_html_().startswith("<p>$u_{tt} = ") and "<table" in network._repr_html_()


def test_same_seed_same_result_whatever_the_global_state(heat):
    import torch
    torch.manual_seed(1)
    one = pinn({"u_xx": 0.1}, heat, **SMALL)
    torch.manual_seed(2)
    assert same(one, pinn({"u_xx": 0.1}, heat, **SMALL))
    assert not same(one, pinn({"u_xx": 0.1}, heat, seed=1, **SMALL))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_interrupted_and_resumed_equals_uninterrupted(heat, tmp_path, monkeypatch, after, dtype):
    whole, epoch = pinn({"u_xx": 0.15}, heat, dtype=dtype, **SMALL), networks.Training.epoch
    def interrupted(self):
        if len(self.rows) == after:
            for _ in range(3): self.closure()
            raise KeyboardInterrupt
        epoch(self)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(networks.Training, "epoch", interrupted)
        pinn({"u_xx": 0.15}, heat, checkpoint=tmp_path / "state.pt", dtype=dtype, **SMALL)
    assert (tmp_path / "state.pt").exists() == (after > 0)
    assert same(whole, pinn({"u_xx": 0.15}, heat, checkpoint=tmp_path / "state.pt", dtype=dtype, **SMALL))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state.pt"]


def test_killed_process_is_resumed(heat, tmp_path):
    heat.to_netcdf(tmp_path / "heat.nc", engine="h5netcdf")
    code = f"""
import os, ubic
from ubic import networks
save = networks.Training.save
def save_and_die(self, *where):
    save(self, *where)
    if len(self.rows) == 2: os._exit(9)
networks.Training.save = save_and_die
field = ubic.load({str(tmp_path / 'heat.nc')!r})
settings = dict(layers=(5, 5), epochs=4, iterations=30)
networks.pinn({{"u_xx": 0.15}}, field, checkpoint={str(tmp_path / 'state.pt')!r}, **settings)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    field = ubic.load(tmp_path / "heat.nc")
    assert same(
        pinn({"u_xx": 0.15}, field, **SMALL), pinn({"u_xx": 0.15}, field, checkpoint=tmp_path / "state.pt", **SMALL),
    )


def test_finished_training_is_only_read(heat, tmp_path, monkeypatch):
    settings = dict(layers=(3,), epochs=40, iterations=3, check_every=1, checkpoint=tmp_path / "state.pt")
    first = pinn({"u_xx": 0.15}, heat.astype("float32").astype(float), **settings)
    assert first.stopped == "" or "no longer fell" in first.stopped
    monkeypatch.setattr(networks.Training, "epoch", lambda self: pytest.fail("trained again"))
    assert same(first, pinn({"u_xx": 0.15}, heat.astype("float32").astype(float), **settings))


@pytest.mark.parametrize(
    "change",
    [
        dict(seed=1), dict(layers=(4,)), dict(iterations=9), dict(dtype="float64"), dict(train={"t": slice(9)}),
        dict(physics={}),
    ],
    ids=str,
)
def test_checkpoint_of_another_problem_is_refused(heat, tmp_path, change):
    settings = dict(layers=(3,), epochs=1, iterations=3, checkpoint=tmp_path / "state.pt")
    pinn({"u_xx": 0.15}, heat, **settings)
    with pytest.raises(ValueError, match="other data, terms or settings"):
        pinn({"u_xx": 0.15}, heat, **(settings | change))
    with pytest.raises(ValueError, match="other data, terms or settings"): pinn({"u_xx": 0.2}, heat, **settings)
    with pytest.raises(ValueError, match="other data, terms or settings"): pinn({"u_xx": 0.15}, 2 * heat, **settings)


@pytest.mark.parametrize("content", [b"", b"milk, bread", b"PK\x03\x04 broken"], ids=repr)
def test_file_that_is_no_checkpoint_is_refused(heat, tmp_path, content):
    (tmp_path / "state.pt").write_bytes(content)
    with pytest.raises(ValueError, match="`checkpoint` .* cannot be read"):
        pinn({"u_xx": 0.15}, heat, checkpoint=tmp_path / "state.pt", **SMALL)


class Trap:
    "Whoever unpickles it leaves a file behind."
    def __reduce__(self): return open, ("trap", "w")


@pytest.mark.parametrize("bare", [False, True], ids=["inside a state", "bare"])
def test_checkpoint_that_holds_code_is_refused_and_the_code_is_not_run(heat, tmp_path, monkeypatch, bare):
    import torch
    monkeypatch.chdir(tmp_path)
    if bare: Path("state.pt").write_bytes(pickle.dumps(Trap()))
    else: torch.save({"fingerprint": Trap()}, "state.pt")
    with pytest.raises(ValueError, match="`checkpoint` 'state.pt' cannot be read"):
        pinn({"u_xx": 0.15}, heat, checkpoint="state.pt", **SMALL)
    assert not Path("trap").exists()


def test_published_seed_gives_the_published_first_weights():
    import torch
    from ubic.jets import draw_weights
    with torch.random.fork_rng():
        torch.manual_seed(1234)
        layers = [torch.nn.Linear(2, 5), torch.nn.Linear(5, 1)]
        for layer in layers: torch.nn.init.xavier_uniform_(layer.weight)
    ours = draw_weights((2, 5, 1), 1234, torch.float32)
    assert torch.equal(
        ours, torch.cat([layers[0].weight.ravel(), torch.zeros(5), layers[1].weight.ravel(), torch.zeros(1)]),
    )


def test_early_stop_at_the_first_look_without_gain():
    training = networks.Training.__new__(networks.Training)
    training.stopped, training.rows = "", []
    for total in (9, 10, 7, 8, 7):
        assert training.stopped == ""
        training.rows.append([total, 0])
        training.stop_without_gain(2)
    assert training.stopped == "the loss no longer fell"


def test_poor_fit_is_reported(heat):
    network = pinn({"u_xx": 0.1}, heat, layers=(1,), epochs=1, iterations=1)
    assert not network.fits and "does not fit its training data" in repr(network)


def test_torch_absent_names_the_extra(heat, monkeypatch):
    monkeypatch.delitem(sys.modules, "ubic.jets", raising=False)
    monkeypatch.delattr(ubic, "jets", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "ubic\[pinn\]"'): pinn({"u_xx": 0.1}, heat)


def test_importing_the_module_does_not_load_torch():
    code = "import sys, ubic.networks; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
