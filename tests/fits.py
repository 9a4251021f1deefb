"Refits made to order, and how far error bars reach in a picture."
import numpy as np

from signs import signs
from ubic.refit import Refit


def fit_with(coef=(1.0,), std=(0.1,), left=1.0, rows=200):
    "The fit of an equation with these coefficients, that leaves so many times the variance of the noise in every box."
    terms = [f"x{j}" for j in range(len(coef))]
    residual = np.sqrt(left)*signs(256, 1)[0][:rows]
    return Refit("u_t", terms, np.array(coef), np.diag(np.square(std)), {"u": 0.1}, residual, True)


def bars(ax):
    "Half the lengths of the error bars of a picture."
    lines = ax.containers[0].lines[2][0].get_segments()
    return [float(np.ptp(line[:, 0]))/2 for line in lines]
