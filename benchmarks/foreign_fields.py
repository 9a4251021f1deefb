"""Fields that this project did not make: published files, and examples of two simulators at their own settings.

A case tells where its field comes from, its grid, what happens at its edges, its true PDE, whether the data can tell
that PDE from others, and what is peculiar about it. Files are looked for in the folder `shared/foreign` beside the
project, or where the variable UBIC_FOREIGN says; they are never copied. The simulators py-pde and exponax belong to the
extra `foreign`; their fields are computed once and kept in the folder of `ubic.ground.storage.cache_folder`.

Every third of the simulated cases, in alphabetical order of their names, is held out.
"""
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from ubic.ground.storage import cache_folder, cached_arrays
from ubic.ground.runtime import need
from ubic.data.field import as_field

ROOT = Path(__file__).resolve().parent.parent
SERIES = "1" # changes when a simulation does, so that old files are left behind
EXTRA = '"ubic[foreign]"'


@dataclass(frozen=True)
class Case:
    "A field, and what is known about it."
    name: str
    source: str # "files", "py-pde" or "exponax"
    grid: dict # axis → number of points
    edges: str # "periodic", "open", or what is held there
    truth: dict # unknown with time derivative → term → coefficient
    make: Callable # returns the unknowns by name, and the axes by name
    identified: bool = True # whether the data can tell the true PDE from others
    known: tuple = () # unknowns whose own equation is not local: nothing is asked about them
    also: tuple = () # other true PDEs of the same field, say because a velocity is free of divergence
    remark: str = ""
    held_out: bool = False

    @property
    def dims(self): return len(self.grid) - 1 # of space

    @property
    def set(self):
        "The part of the board that a case belongs to."
        if self.source == "files": return "files"
        return "held out" if self.held_out else "simulators"


# --- published files ----------------------------------------------------------------------------------------------

def folder():
    "Where the published files are."
    return Path(os.environ.get("UBIC_FOREIGN") or ROOT.parent/"shared"/"foreign")


def mat(name): return loadmat(folder()/name)


def plain(name, unknown="usol", x="x", t="t"):
    "A file with one unknown and its axes."
    def make():
        file = mat(name)
        return {"u": np.real(file[unknown])}, {"x": np.real(file[x]).ravel(), "t": np.real(file[t]).ravel()}
    return make


def boxed(name, unknown):
    "A file with unknowns and axes in cells."
    def make():
        file = mat(name)
        x, t = file["xs"].ravel()[:2]
        return {"u": file[unknown].ravel()[0]}, {"x": x.ravel(), "t": t.ravel()}
    return make


def time_first(name, x, t):
    "A file that tells no axes and has time first."
    def make():
        file = folder()/name
        u = np.load(file) if file.suffix == ".npy" else mat(name)["U"]
        return {"u": u.T}, {"x": x, "t": t}
    return make


def standing_wave():
    "A file whose axes are told in its documentation."
    u = mat("ko_pde_ident-wave.mat")["u"]
    return {"u": u}, {"x": np.linspace(0, np.pi, 161), "t": np.linspace(0, 2*np.pi, 321)}


def chafee_infante():
    "A field and its axes in three files."
    u, x, t = (np.load(folder()/f"sga_pde-chafee_infante_{part}.npy") for part in ("CI", "x", "t"))
    return {"u": u}, {"x": x.ravel(), "t": t.ravel()}


FISHER = time_first("discover-fisher_groundtruth.mat", np.linspace(-1, 1, 201), np.linspace(0, 1, 101))
FISHER_NONLINEAR = time_first("discover-fisher_nonlin_groundtruth.mat", np.linspace(-1, 1, 201), np.linspace(0, 1, 101))
COMPOUND = time_first("sga_pde-PDE_compound.npy", np.linspace(1, 2, 100), np.linspace(0, 0.5, 251))


def of_file(name, n, m, edges, truth, make, remark=""):
    "A case of a published file."
    return Case(f"file: {name}", "files", {"x": n, "t": m}, edges, truth, make, remark=remark)


def published():
    "The fifteen fields of the folder."
    logistic = {"u": 10, "u^2": -10}
    yield of_file("Fisher", 201, 101, "open", {"u_t": {"u_xx": 0.02, **logistic}}, FISHER)
    yield of_file("Fisher, nonlinear diffusion", 201, 101, "open",
                  {"u_t": {"(u^2)_xx": 0.01, **logistic}}, FISHER_NONLINEAR)
    yield of_file("wave", 161, 321, "fixed", {"u_tt": {"u_xx": 1}}, standing_wave)
    yield of_file("KdV, PDE-FIND", 512, 201, "periodic",
                  {"u_t": {"(u^2)_x": -3, "u_xxx": -1}}, plain("pde_find-kdv.mat"))
    yield of_file("Allen-Cahn", 256, 201, "periodic",
                  {"u_t": {"u_xx": 0.003, "u": 1, "u^3": -1}}, plain("pde_read-Allen_Cahn.mat"))
    yield of_file("beam", 401, 401, "open", {"u_tt": {"u_xxxx": -0.1}}, plain("pde_read-Beam_Exp.mat"))
    yield of_file("Cahn-Hilliard", 256, 201, "periodic",
                  {"u_t": {"u_xx": -10, "u_xxxx": -0.1, "(u^3)_xx": 10}},
                  plain("pde_read-Cahn_Hilliard_Sine.mat"), "mostly steady")
    yield of_file("Klein-Gordon", 201, 201, "open", {"u_tt": {"u_xx": 0.5, "u": -5}}, plain("pde_read-KG_Exp.mat"))
    yield of_file("KdV, SGA", 512, 201, "periodic",
                  {"u_t": {"(u^2)_x": -0.5, "u_xxx": -0.0025}}, plain("sga_pde-KdV.mat", "uu", t="tt"))
    yield of_file("compound", 100, 251, "open", {"u_t": {"(u^2)_xx": 0.5}}, COMPOUND)
    yield of_file("Chafee-Infante", 301, 200, "open", {"u_t": {"u_xx": 1, "u": -1, "u^3": 1}}, chafee_infante)
    yield of_file("heat", 234, 501, "open", {"u_t": {"u_xx": 0.15915494}}, boxed("weakident-heat.mat", "U"))
    yield of_file("transport and diffusion", 257, 300, "periodic",
                  {"u_t": {"u_x": -1, "u_xx": 0.05}}, boxed("weakident-transportDiff.mat", "U"))
    yield of_file("Kuramoto-Sivashinsky", 256, 301, "periodic",
                  {"u_t": {"(u^2)_x": -0.5, "u_xx": -1, "u_xxxx": -1}}, boxed("wsindy_pde-KS.mat", "U_exact"), "coarse")
    yield of_file("inviscid Burgers", 256, 256, "open",
                  {"u_t": {"(u^2)_x": -0.5}}, boxed("wsindy_pde-burgers.mat", "U_exact"), "a shock, badly scaled")


# --- py-pde -------------------------------------------------------------------------------------------------------

def stored(equation, state, end, every, names, **how):
    "The frames of a simulation of py-pde: unknowns and axes."
    pde = import_module("pde")
    storage = pde.MemoryStorage()
    equation.solve(state, t_range=end, tracker=storage.tracker(every), **how)
    frames = np.moveaxis(np.asarray(storage.data), 0, -1)
    if not hasattr(state, "fields"): frames = frames[None]
    axes = dict(zip(state.grid.axes, state.grid.axes_coords))
    return dict(zip(names, frames)), {**axes, "t": np.array(storage.times)}


def with_pde(make):
    "A function that gets py-pde and a random generator."
    return lambda: make(need("pde", EXTRA), np.random.default_rng(0))


@with_pde
def allen_cahn(pde, rng):
    "Its predefined class on a periodic line."
    state = pde.ScalarField.random_harmonic(pde.CartesianGrid([[0, 40]], 160, periodic=True), modes=8, rng=rng)
    return stored(pde.AllenCahnPDE(), state, 6, 0.05, ["u"], dt=1e-3)


@with_pde
def brusselator(pde, rng):
    "The gallery: an equation given as text, and noise at the start."
    equation = pde.PDE({"u": "laplace(u) + 1 - 4*u + u**2*v", "v": "0.1*laplace(v) + 3*u - u**2*v"})
    grid = pde.UnitGrid([64, 64])
    start = [pde.ScalarField(grid, 1), 3 + 0.1*pde.ScalarField.random_normal(grid, rng=rng)]
    return stored(equation, pde.FieldCollection(start), 20, 0.1, ["u", "v"], dt=1e-3)


@with_pde
def cahn_hilliard(pde, rng):
    "The second tutorial."
    state = pde.ScalarField.random_uniform(pde.UnitGrid([64, 64]), -1, 1, rng=rng)
    return stored(pde.CahnHilliardPDE(), state, 100, 1, ["u"], dt=1e-3)


@with_pde
def diffusion_box(pde, rng):
    "Diffusion in three dimensions, closed on all sides."
    grid = pde.CartesianGrid([[-1, 1]]*3, 24)
    start = "exp(-4*((x - 0.4)**2 + y**2 + z**2)) + 0.8*exp(-6*((x + 0.5)**2 + (y - 0.4)**2 + (z + 0.3)**2))"
    return stored(pde.DiffusionPDE(0.1), pde.ScalarField.from_expression(grid, start), 0.8, 0.02, ["u"], dt=1e-3)


@with_pde
def diffusion_quick(pde, rng):
    "The example of its front page: noise that spreads."
    state = pde.ScalarField.random_uniform(pde.UnitGrid([64, 64]), rng=rng)
    return stored(pde.DiffusionPDE(0.1), state, 10, 0.1, ["u"], dt=0.01)


@with_pde
def diffusion_mixed(pde, rng):
    "The second tutorial: a slope is held on the left, values on the right."
    grid = pde.CartesianGrid([[0, 4*np.pi]]*2, [32, 32], periodic=[False, True])
    state = pde.ScalarField.random_uniform(grid, 0.2, 0.3, rng=rng)
    ends = [[{"derivative": 0.1}, {"value": "sin(y)"}], "periodic"]
    return stored(pde.DiffusionPDE(bc=ends), state, 10, 0.1, ["u"], dt=0.005)


@with_pde
def diffusion_driven(pde, rng):
    "The gallery: both ends follow a sine of time."
    state = pde.ScalarField(pde.CartesianGrid([[0, 10]], [64]))
    equation = pde.PDE({"u": "laplace(u)"}, bc={"value_expression": "sin(t)"})
    return stored(equation, state, 20, 0.1, ["u"], dt=1e-3)


@with_pde
def fisher_closed(pde, rng):
    "A population that spreads on a line with closed ends."
    grid = pde.CartesianGrid([[0, 40]], 160)
    state = pde.ScalarField.from_expression(grid, "0.6*exp(-(x - 9)**2/4) + 0.3*exp(-(x - 28)**2/8)")
    return stored(pde.PDE({"u": "0.5*laplace(u) + u*(1 - u)"}), state, 8, 0.05, ["u"], dt=1e-3)


@with_pde
def fitzhugh_nagumo(pde, rng):
    "The gallery: noise at the start."
    equation = pde.PDE({"u": "laplace(u) + u - u**3/3 - w + 0.5", "w": "u/10"})
    state = pde.FieldCollection.scalar_random_uniform(2, pde.UnitGrid([32, 32]), rng=rng)
    return stored(equation, state, 100, 0.5, ["u", "w"], dt=0.01)


@with_pde
def inflow(pde, rng):
    "Something that flows in on the left, more or less of it, and out on the right."
    grid = pde.CartesianGrid([[0, 20]], 128)
    ends = [{"value_expression": "1 + 0.5*sin(t) + 0.3*sin(2.7*t)"}, {"derivative": 0}]
    equation = pde.PDE({"u": "0.2*laplace(u) - d_dx(u)"}, bc=[ends])
    return stored(equation, pde.ScalarField.from_expression(grid, "exp(-x/4)"), 20, 0.1, ["u"], dt=1e-3)


@with_pde
def klein_gordon(pde, rng):
    "The gallery: a bump between two walls; only the height is kept."
    grid = pde.UnitGrid([128])
    equation = pde.KleinGordonPDE(speed=1, mass=0.5)
    state = equation.get_initial_condition(pde.ScalarField.from_expression(grid, "exp(-((x - 32)/5)**2)"))
    return stored(equation, state, 50, 0.25, ["u"], dt=0.01)


@with_pde
def kpz_plane(pde, rng):
    "Its predefined class in the plane, without noise, from smooth waves."
    state = pde.ScalarField.random_harmonic(pde.UnitGrid([64, 64], periodic=True), modes=4, rng=rng)
    return stored(pde.KPZInterfacePDE(), 4*state, 20, 0.2, ["u"], dt=0.01)


@with_pde
def kuramoto_sivashinsky_plane(pde, rng):
    "The gallery, with twice the points: noise at the start."
    state = pde.ScalarField.random_uniform(pde.CartesianGrid([[0, 32]]*2, 64), rng=rng)
    return stored(pde.KuramotoSivashinskyPDE(), state, 10, 0.1, ["u"], dt=1e-3)


@with_pde
def kuramoto_sivashinsky_line(pde, rng):
    "The same on a periodic line, for longer."
    state = pde.ScalarField.random_uniform(pde.CartesianGrid([[0, 64]], 160, periodic=True), rng=rng)
    return stored(pde.KuramotoSivashinskyPDE(), state, 60, 0.3, ["u"], dt=5e-4)


@with_pde
def kdv_coarse(pde, rng):
    "The gallery: a sine on thirty-two points."
    state = pde.ScalarField.from_expression(pde.CartesianGrid([[0, 2*np.pi]], [32], periodic=True), "sin(x)")
    equation = pde.PDE({"u": "6*u*d_dx(u) - laplace(d_dx(u))"})
    return stored(equation, state, 3, 0.1, ["u"], solver="scipy")


@with_pde
def schroedinger(pde, rng):
    "The gallery: a wave packet between two walls, as real and imaginary part."
    state = pde.ScalarField.from_expression(pde.CartesianGrid([[0, 20]], 128), "exp(I*5*x)*exp(-(x - 10)**2)")
    state /= np.sqrt(state.to_scalar("norm_squared").integral.real)
    arrays, axes = stored(pde.PDE({"psi": "I*laplace(psi)"}), state, 2.5, 0.02, ["psi"], dt=1e-4, solver="runge-kutta")
    return {"u": arrays["psi"].real, "v": arrays["psi"].imag}, axes


def laplacian(name, number, axes="xyz"): return {f"{name}_{axis}{axis}": number for axis in axes}


BILAPLACIAN = {"u_xxxx": -1, "u_xxyy": -2, "u_yyyy": -1}


def of_py_pde(name, grid, edges, truth, make, **more):
    "A case of py-pde."
    return Case(f"py-pde: {name}", "py-pde", grid, edges, truth, make, **more)


def line(n, m): return {"x": n, "t": m}
def plane(n, m): return {"x": n, "y": n, "t": m}


def of_differences():
    "Cases of py-pde, whose derivatives in space are second-order finite differences."
    yield of_py_pde("Allen-Cahn", line(160, 121), "periodic", {"u_t": {"u": 1, "u^3": -1, "u_xx": 1}}, allen_cahn)
    reaction = {"u_t": {**laplacian("u", 1, "xy"), "1": 1, "u": -4, "u^2*v": 1},
                "v_t": {**laplacian("v", 0.1, "xy"), "u": 3, "u^2*v": -1}}
    yield of_py_pde("Brusselator, plane", plane(64, 201), "no flux", reaction, brusselator)
    separation = {"u_t": {**laplacian("u", -1, "xy"), "(u^3)_xx": 1, "(u^3)_yy": 1, **BILAPLACIAN}}
    yield of_py_pde("Cahn-Hilliard, plane", plane(64, 101), "no flux", separation, cahn_hilliard)
    box = {"x": 24, "y": 24, "z": 24, "t": 41}
    yield of_py_pde("diffusion in a box", box, "no flux", {"u_t": laplacian("u", 0.1)}, diffusion_box)
    yield of_py_pde("diffusion of noise, plane", plane(64, 101), "no flux",
                    {"u_t": laplacian("u", 0.1, "xy")}, diffusion_quick)
    yield of_py_pde("diffusion, mixed edges, plane", plane(32, 101), "held, and periodic",
                    {"u_t": laplacian("u", 1, "xy")}, diffusion_mixed)
    yield of_py_pde("diffusion, driven ends", line(64, 201), "held", {"u_t": {"u_xx": 1}}, diffusion_driven)
    yield of_py_pde("Fisher-KPP, closed ends", line(160, 161), "no flux",
                    {"u_t": {"u": 1, "u^2": -1, "u_xx": 0.5}}, fisher_closed)
    nerves = {"u_t": {**laplacian("u", 1, "xy"), "u": 1, "u^3": -1/3, "w": -1, "1": 0.5}, "w_t": {"u": 0.1}}
    yield of_py_pde("FitzHugh-Nagumo, plane", plane(32, 201), "no flux", nerves, fitzhugh_nagumo)
    yield of_py_pde("inflow", line(128, 201), "held, and open", {"u_t": {"u_x": -1, "u_xx": 0.2}}, inflow)
    yield of_py_pde("Klein-Gordon", line(128, 201), "no flux", {"u_tt": {"u_xx": 1, "u": -0.25}}, klein_gordon)
    growth = {"u_t": {**laplacian("u", 0.5, "xy"), "u_x^2": 1, "u_y^2": 1}}
    yield of_py_pde("KPZ, plane", plane(64, 101), "periodic", growth, kpz_plane,
                    remark="what it computes has λ where its documentation has λ/2")
    flame = {"u_t": {**laplacian("u", -1, "xy"), **BILAPLACIAN, "u_x^2": -0.5, "u_y^2": -0.5}}
    yield of_py_pde("Kuramoto-Sivashinsky, plane", plane(64, 101), "no flux", flame, kuramoto_sivashinsky_plane)
    yield of_py_pde("Kuramoto-Sivashinsky", line(160, 201), "periodic",
                    {"u_t": {"u_x^2": -0.5, "u_xx": -1, "u_xxxx": -1}}, kuramoto_sivashinsky_line)
    yield of_py_pde("KdV, coarse", line(32, 31), "periodic", {"u_t": {"(u^2)_x": 3, "u_xxx": -1}}, kdv_coarse,
                    identified=False, remark="differences on so few points solve another equation")
    yield of_py_pde("Schroedinger", line(128, 126), "no flux",
                    {"u_t": {"v_xx": -1}, "v_t": {"u_xx": 1}}, schroedinger)


# --- exponax ------------------------------------------------------------------------------------------------------

def rolled(stepper, start, frames, length, names=("u",), every=1):
    "The frames of a simulation of exponax: unknowns and axes."
    ex = import_module("exponax")
    whole = ex.RepeatedStepper(stepper, every) if every > 1 else stepper
    frames = np.asarray(ex.rollout(whole, frames - 1, include_init=True)(start), float)
    points = np.arange(frames.shape[-1])*length/frames.shape[-1]
    axes = dict.fromkeys("xyz"[:frames.ndim - 2], points)
    unknowns = {name: np.moveaxis(frames[:, number], 0, -1) for number, name in enumerate(names)}
    return unknowns, {**axes, "t": np.arange(len(frames))*every*stepper.dt}


def waves(dims, points, cutoff=5, **how):
    "Its random start of a few waves."
    ex, jax = import_module("exponax"), import_module("jax")
    return ex.ic.RandomTruncatedFourierSeries(dims, cutoff=cutoff, **how)(points, key=jax.random.PRNGKey(0))


def with_exponax(make):
    "A function that gets exponax."
    return lambda: make(need("exponax", EXTRA))


@with_exponax
def one_sine(ex):
    "The example for beginners: one sine that travels."
    x = np.arange(100)*0.01
    start = import_module("jax.numpy").array(np.sin(2*np.pi*x))[None]
    return rolled(ex.stepper.Advection(1, 1.0, 100, 0.1, velocity=0.25), start, 41, 1.0)


@with_exponax
def advection_diffusion(ex):
    "The gallery."
    velocity = import_module("jax.numpy").array([0.3, -0.5])
    stepper = ex.stepper.AdvectionDiffusion(2, 3.0, 75, 0.1, velocity=velocity, diffusivity=0.01)
    return rolled(stepper, waves(2, 75), 31, 3.0)


@with_exponax
def anisotropic(ex):
    "The gallery."
    diffusivity = import_module("jax.numpy").array([[0.02, 0.01], [0.01, 0.05]])
    return rolled(ex.stepper.Diffusion(2, 3.0, 75, 0.1, diffusivity=diffusivity), waves(2, 75), 31, 3.0)


@with_exponax
def burgers(ex):
    "The gallery."
    return rolled(ex.stepper.Burgers(1, 3.0, 110, 0.01, diffusivity=0.03), waves(1, 110), 101, 3.0)


@with_exponax
def burgers_pair(ex):
    "The gallery: two components of a velocity."
    jax = import_module("jax")
    one = ex.ic.ClampingICGenerator(ex.ic.RandomTruncatedFourierSeries(2, cutoff=5), (-1.0, 1.0))
    start = ex.ic.RandomMultiChannelICGenerator([one, one])(65, key=jax.random.PRNGKey(0))
    return rolled(ex.stepper.Burgers(2, 3.0, 65, 0.05, diffusivity=0.02), start, 101, 3.0, ("u", "v"))


@with_exponax
def dispersion(ex):
    "The gallery."
    return rolled(ex.stepper.Dispersion(1, 3.0, 110, 0.01, dispersivity=0.01), waves(1, 110, 3), 101, 3.0)


@with_exponax
def gray_scott(ex):
    "The gallery: two spots; ten steps for one of theirs."
    jax = import_module("jax")
    spots = [ex.ic.RandomGaussianBlobs(2, one_complement=True), ex.ic.RandomGaussianBlobs(2)]
    start = ex.ic.RandomMultiChannelICGenerator(spots)(60, key=jax.random.PRNGKey(0))
    return rolled(ex.stepper.reaction.GrayScott(2, 2.0, 60, 0.1), start, 101, 2.0, ("u", "v"), every=10)


@with_exponax
def hyper_diffusion(ex):
    "The gallery."
    return rolled(ex.stepper.HyperDiffusion(1, 3.0, 110, 0.01, hyper_diffusivity=0.001), waves(1, 110), 101, 3.0)


@with_exponax
def kdv(ex):
    "The gallery."
    return rolled(ex.stepper.KortewegDeVries(1, 20.0, 110, 0.01), waves(1, 110), 101, 20.0)


@with_exponax
def soliton(ex):
    "The closed form of its documentation: one wave that keeps its shape."
    x = np.arange(128)*20/128
    start = import_module("jax.numpy").array(-0.5*2/np.cosh(np.sqrt(2)/2*(x - 7))**2)[None]
    stepper = ex.stepper.KortewegDeVries(1, 20.0, 128, 0.01, hyper_diffusivity=0.0)
    return rolled(stepper, start, 101, 20.0, every=4)


@with_exponax
def ks_conservative(ex):
    "The quick start."
    return rolled(ex.stepper.KuramotoSivashinskyConservative(1, 100.0, 200, 0.1), waves(1, 200), 501, 100.0)


@with_exponax
def navier_stokes(ex):
    "The gallery: vorticity, and the velocity that belongs to it."
    stepper = ex.stepper.NavierStokesVorticity(2, 1.0, 48, 0.01, diffusivity=0.0003)
    arrays, axes = rolled(stepper, waves(2, 48), 101, 1.0, ("w",), every=10)
    k = 2*np.pi*np.fft.fftfreq(48, 1/48)
    kx, ky = k[:, None, None], k[None, :, None]
    squares = kx**2 + ky**2
    squares[0, 0] = 1
    stream = -np.fft.fft2(arrays["w"], axes=(0, 1))/squares # the inverse Laplacian, with the sign of exponax
    def space(part): return np.fft.ifft2(part, axes=(0, 1)).real
    return {**arrays, "u": space(1j*ky*stream), "v": space(-1j*kx*stream)}, axes


@with_exponax
def swift_hohenberg(ex):
    "The gallery."
    length = 20*np.pi
    start = waves(2, 100, max_one=True)
    return rolled(ex.stepper.reaction.SwiftHohenberg(2, length, 100, 0.1), start, 101, length)


@with_exponax
def wave(ex):
    "A string of random shape that is let go; only the height is kept."
    start = import_module("jax.numpy").concatenate([waves(1, 110), np.zeros((1, 110), np.float32)])
    return rolled(ex.stepper.Wave(1, 3.0, 110, 0.02), start, 151, 3.0)


def of_exponax(name, grid, truth, make, **more):
    "A case of exponax, which is periodic always."
    return Case(f"exponax: {name}", "exponax", grid, "periodic", truth, make, **more)


def of_spectra():
    "Cases of exponax, whose derivatives in space are exact for the waves that the grid holds."
    yield of_exponax("advection of one sine", line(100, 41), {"u_t": {"u_x": -0.25}}, one_sine,
                     identified=False, remark="one wave: every derivative is a multiple of another")
    yield of_exponax("advection-diffusion, plane", plane(75, 31),
                     {"u_t": {"u_x": -0.3, "u_y": 0.5, **laplacian("u", 0.01, "xy")}}, advection_diffusion)
    yield of_exponax("anisotropic diffusion, plane", plane(75, 31),
                     {"u_t": {"u_xx": 0.02, "u_xy": 0.02, "u_yy": 0.05}}, anisotropic)
    yield of_exponax("Burgers", line(110, 101), {"u_t": {"(u^2)_x": -0.5, "u_xx": 0.03}}, burgers)
    pair = {"u_t": {"(u^2)_x": -0.5, "v*u_y": -1, **laplacian("u", 0.02, "xy")},
            "v_t": {"u*v_x": -1, "(v^2)_y": -0.5, **laplacian("v", 0.02, "xy")}}
    yield of_exponax("Burgers, a pair in the plane", plane(65, 101), pair, burgers_pair)
    yield of_exponax("dispersion", line(110, 101), {"u_t": {"u_xxx": 0.01}}, dispersion)
    spots = {"u_t": {**laplacian("u", 2e-5, "xy"), "1": 0.04, "u": -0.04, "u*v^2": -1},
             "v_t": {**laplacian("v", 1e-5, "xy"), "v": -0.1, "u*v^2": 1}}
    yield of_exponax("Gray-Scott, plane", plane(60, 101), spots, gray_scott)
    yield of_exponax("hyper-diffusion", line(110, 101), {"u_t": {"u_xxxx": -0.001}}, hyper_diffusion)
    yield of_exponax("KdV", line(110, 101), {"u_t": {"(u^2)_x": 3, "u_xxx": -1, "u_xxxx": -0.01}}, kdv)
    yield of_exponax("KdV, one soliton", line(128, 101), {"u_t": {"(u^2)_x": 3, "u_xxx": -1}}, soliton,
                     identified=False, remark="a travelling wave")
    yield of_exponax("Kuramoto-Sivashinsky", line(200, 501),
                     {"u_t": {"(u^2)_x": -0.5, "u_xx": -1, "u_xxxx": -1}}, ks_conservative)
    flow = laplacian("w", 3e-4, "xy")
    yield of_exponax("Navier-Stokes, plane", plane(48, 101), {"w_t": {"u*w_x": -1, "v*w_y": -1, **flow}}, navier_stokes,
                     known=("u", "v"), also=({"w_t": {"(u*w)_x": -1, "(v*w)_y": -1, **flow}},),
                     remark="the velocity has no local equation of its own")
    pattern = {"u": -0.3, "u^2": 1, "u^3": -1, **laplacian("u", -2, "xy"), **BILAPLACIAN}
    yield of_exponax("Swift-Hohenberg, plane", plane(100, 101), {"u_t": pattern}, swift_hohenberg)
    yield of_exponax("wave", line(110, 151), {"u_tt": {"u_xx": 1}}, wave)


# --- all of them --------------------------------------------------------------------------------------------------

def simulated():
    "The cases of both simulators; every third name of the alphabet is held out."
    made = sorted([*of_differences(), *of_spectra()], key=lambda case: case.name)
    return [replace(case, held_out=place % 3 == 2) for place, case in enumerate(made)]


def cases():
    "All cases."
    return [*published(), *simulated()]


def missing(case):
    "Why the field of a case cannot be had here, or nothing."
    if case.source == "files":
        return "" if folder().is_dir() else f"there is no folder {folder().name} beside the project, nor UBIC_FOREIGN"
    package = {"py-pde": "pde", "exponax": "exponax"}[case.source]
    try: need(package, EXTRA)
    except ImportError as error: return str(error)
    return ""


def together(case):
    "Unknowns and axes as one set of arrays."
    arrays, axes = case.make()
    return {**arrays, **{f"axis {dim}": values for dim, values in axes.items()}}


def field_of(case):
    "The field of a case; simulations are kept in the user's cache folder."
    if case.source == "files": arrays = together(case)
    else:
        name = "".join(letter if letter.isalnum() else "-" for letter in case.name)
        arrays = cached_arrays(cache_folder()/f"foreign-{name}-{SERIES}.npz", lambda: together(case))
    axes = {dim: arrays[f"axis {dim}"] for dim in case.grid}
    unknowns = {name: values for name, values in arrays.items() if not name.startswith("axis ")}
    return as_field(unknowns, dims=tuple(case.grid), **axes)
