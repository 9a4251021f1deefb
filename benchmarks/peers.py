"""PySINDy's weak form of a field, for the library and for the whole road."""
import re

import numpy as np

from ubic.recipes import paper_terms
from ubic.terms import candidates

REACTION = [ # of the paper's systems in two and three dimensions
    lambda u: u,
    lambda u: u**3,
    lambda u, v: u*v**2,
    lambda u, v: u**2*v,
]
PART = re.compile(r"([A-Za-z])(?:_(\d+))?(?:\^(\d+))?") # unknown, axes of its derivative, power


def terms(ds, derivative_order):
    "Our names for the columns of `boxes`."
    if list(ds.data_vars) == ["u"]: return candidates(derivative_order=derivative_order)
    return paper_terms["gray_scott" if "z" in ds.dims else "reaction_diffusion"]


def boxes(ds, rows, derivative_order=2, p=4, share=None):
    """Its weak library with the candidates of the paper.

    `share` is the half-width of a box in parts of each axis, None for its default.
    """
    import pysindy as ps
    np.random.seed(0) # PySINDy draws its boxes from the global generator
    axes = [ds[dim].values for dim in ds.dims]
    if list(ds.data_vars) == ["u"]: functions = ps.PolynomialLibrary(degree=2, include_bias=False)
    else: functions = ps.CustomLibrary(library_functions=REACTION)
    cube = "z" in ds.dims # the paper has a constant and no products there
    return ps.WeakPDELibrary(
        function_library=functions,
        derivative_order=derivative_order,
        spatiotemporal_grid=np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1),
        K=rows,
        p=p,
        H_xt=share and [share*np.ptp(axis) for axis in axes],
        include_interaction=not cube,
        include_bias=cube,
    )


def stacked(ds): return np.stack([ds[name].values for name in ds.data_vars], axis=-1)


def matrix(ds, rows, **settings):
    "Candidates, and the first target."
    import pysindy as ps
    library, dims = boxes(ds, rows, **settings), len(ds.dims)
    axes = {"ax_spatial": list(range(dims - 1)), "ax_time": dims - 1, "ax_coord": dims}
    data = ps.AxesArray(stacked(ds), axes)
    return np.asarray(library.fit(data).transform(data)), library.convert_u_dot_integral(np.asarray(data))[:, 0]


def road(ds, rows, threshold, derivative_order=2, **settings):
    "The usual script: weak library, sequentially thresholded least squares; unknown → {term: coefficient}."
    import pysindy as ps
    library = boxes(ds, rows, derivative_order, **settings)
    model = ps.SINDy(feature_library=library, optimizer=ps.STLSQ(threshold=threshold, alpha=1e-12))
    model.fit(stacked(ds), t=ds.t.values, feature_names=list(ds.data_vars))
    names = list(map(str, terms(ds, derivative_order)))
    def equation(row): return {term: c for term, c in zip(names, row) if c}
    return {name: equation(row) for name, row in zip(ds.data_vars, model.coefficients())}


def spelled(name, dims):
    "A name of PySINDy, as u^2v_11, in our spelling: u^2*v_xx."
    def part(found):
        "One factor."
        unknown, axes, power = found.groups()
        slope = "_" + "".join(dims[int(axis) - 1] for axis in axes) if axes else ""
        return unknown + slope + (f"^{power}" if power else "")
    return "*".join(map(part, PART.finditer(name.replace(" ", ""))))


class WeakSindy:
    """PySINDy's weak library of a field with polynomials to degree 3, and what its optimizer chooses from it.

    All is as its documentation has it, with two exceptions. Its default of a hundred boxes is fewer than the candidates
    for two unknowns, so there are a thousand. Its default ridge is made for values of order one, which integrals over
    small boxes are not, so there is none.
    """
    def __init__(self, field, rows=1000):
        import pysindy as ps
        np.random.seed(0) # PySINDy draws its boxes from the global generator
        self.names, dims = list(field.data_vars), [dim for dim in field.dims if dim != "t"]
        axes = [field[dim].values for dim in field.dims]
        library = ps.WeakPDELibrary(
            function_library=ps.PolynomialLibrary(degree=3, include_bias=False),
            derivative_order=4 if len(dims) == 1 else 2,
            spatiotemporal_grid=np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1),
            K=rows,
        )
        about = {"ax_spatial": list(range(len(dims))), "ax_time": len(dims), "ax_coord": len(dims) + 1}
        data = ps.AxesArray(stacked(field), about)
        self.X = np.asarray(library.fit(data).transform(data))
        self.y = np.asarray(library.convert_u_dot_integral(np.asarray(data)))
        self.terms = [spelled(name, dims) for name in library.get_feature_names(self.names)]

    def fit(self, threshold):
        "Unknown → terms that its optimizer keeps."
        import pysindy as ps
        coef = ps.STLSQ(threshold=threshold, alpha=1e-12).fit(self.X, self.y).coef_
        return {name: [term for term, c in zip(self.terms, row) if c] for name, row in zip(self.names, coef)}
