"Standing waves, which obey an equation of second order in time."
import numpy as np

from ubic.field import as_field

x, t = np.arange(160)*0.125, np.linspace(0, 8, 130)


def standing(frequency, seed=0):
    "Seven standing waves, each with the frequency that a function gives for its wave number."
    rng, u = np.random.default_rng(seed), 0
    for q in 2*np.pi*np.arange(1, 8)/20:
        shapes, turn = np.stack([np.cos(q*x), np.sin(q*x)], axis=1), frequency(q)*t
        u = u + shapes @ rng.normal(size=(2, 2)) @ [np.cos(turn), np.sin(turn)]
    return as_field(u, x=x, t=t)
