"""Draw the pictures of the front page: nbs/images/road.png, the road from a field to an equation, each stage on the same noisy Burgers field; and burgers.png, the result.

Every stage has a light card of its own, so that the picture reads well on light and on dark pages.
"""
import os

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

import ubic
from generated import NOTEBOOKS

PICTURE = NOTEBOOKS / "images" / "road.png"
STAGES = {"field": "what was measured", "denoise": "optional", "library": "candidate terms", "best_subsets": "one per size", "select": "fit against uncertainty", "validate": "does it reproduce the data?"}
INK, CARD, ACCENT, GRAY = "#1f2933", "#fbfbf8", "#c2410c", "#8a94a0"


def travel():
    "What each stage hands on."
    field = ubic.add_noise(ubic.datasets.burgers(), 30, seed=0)
    clean = ubic.denoise.ksvd(field)
    system = ubic.library.weak(field, derivative_order=3, power=2)
    path = ubic.best_subsets(system)
    selection = ubic.select(path)
    return field, clean, system, path, selection, ubic.validate(selection, field)


def show_field(ax, field):
    ax.imshow(field.u.transpose("x", "t"), aspect="auto", origin="lower", cmap="viridis", vmin=-0.2, vmax=1)


def show_library(ax, system):
    rows = system.X[::len(system.X)//40][:40]
    ax.imshow(rows / np.abs(rows).max(axis=0), aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")


def show_path(ax, path, chosen):
    inside = np.array([[number in support for number in range(len(path.system.terms))] for support in path.supports], dtype=float)
    inside[chosen - 1] *= 2
    ax.imshow(inside, aspect="auto", cmap=matplotlib.colors.ListedColormap(["#eceae4", GRAY, ACCENT]), vmin=0, vmax=2, interpolation="nearest")
    ax.set_xticks(np.arange(0.5, inside.shape[1] - 1), minor=True)
    ax.set_yticks(np.arange(0.5, inside.shape[0] - 1), minor=True)
    ax.grid(which="minor", color=CARD, linewidth=2)
    ax.tick_params(which="minor", length=0)


def show_selection(ax, selection):
    sizes = np.arange(1, len(selection.ubic) + 1)
    ax.plot(sizes, selection.bic, "o--", color=GRAY, ms=3, lw=1)
    ax.plot(sizes, selection.ubic, "o-", color=INK, ms=3.5, lw=1.4)
    ax.plot(selection.size, selection.ubic[selection.size - 1], "o", ms=11, mfc="none", mec=ACCENT, mew=2)
    ax.margins(0.1)


def show_validation(ax, field, verdict):
    ax.plot(field.x, field.u.isel(t=-1), ".", color=GRAY, ms=2.5)
    ax.plot(verdict.field.x, verdict.field.u.isel(t=-1), color=ACCENT, lw=1.8)


def arrow(fig, *points):
    "An arrow through points of the figure."
    way = Path(points, [Path.MOVETO] + [Path.LINETO]*(len(points) - 1))
    fig.add_artist(FancyArrowPatch(path=way, arrowstyle="-|>", mutation_scale=16, color=GRAY, lw=2.2, joinstyle="round", fill=False, transform=fig.transFigure))


def draw():
    "Two rows of three cards, with the arrows between them."
    field, clean, system, path, selection, verdict = travel()
    shows = [lambda ax: show_field(ax, field), lambda ax: show_field(ax, clean), lambda ax: show_library(ax, system), lambda ax: show_path(ax, path, selection.size),
             lambda ax: show_selection(ax, selection), lambda ax: show_validation(ax, field, verdict)]
    fig = plt.figure(figsize=(8, 5), dpi=150)
    width, height, gap, aisle = 0.29, 0.44, 0.06, 0.1
    for number, ((stage, said), show) in enumerate(zip(STAGES.items(), shows)):
        left, bottom = 0.005 + (number % 3)*(width + gap), 0.01 + (number < 3)*(height + aisle)
        fig.add_artist(FancyBboxPatch((left, bottom), width, height, boxstyle="round,pad=0,rounding_size=0.02", mutation_aspect=1.6, fc=CARD, ec="#d8d5cc", lw=1, transform=fig.transFigure, zorder=-1))
        fig.text(left + width/2, bottom + 0.89*height, stage, ha="center", va="center", color=INK, fontsize=13, family="monospace", weight="bold")
        fig.text(left + width/2, bottom + 0.08*height, said, ha="center", va="center", color="#52606d", fontsize=10)
        show(ax := fig.add_axes([left + 0.025, bottom + 0.17*height, width - 0.05, 0.64*height]))
        ax.set(xticks=[], yticks=[], facecolor=CARD)
        ax.spines[:].set_visible(False)
        if number % 3: arrow(fig, (left - gap + 0.006, bottom + height/2), (left - 0.004, bottom + height/2))
    first, last, middle = 0.005 + width/2, 0.995 - width/2, 0.01 + height + aisle/2
    arrow(fig, (last, middle + aisle/2 - 0.008), (last, middle), (first, middle), (first, middle - aisle/2 + 0.006))
    return fig


def keep(fig, path, **how):
    "Write a picture in one step."
    new = path.with_suffix(".new.png")
    fig.savefig(new, **how)
    os.replace(new, path)


if __name__ == "__main__":
    keep(draw(), PICTURE, transparent=True)
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0))
    keep(found.plot()[0].figure, PICTURE.with_name("burgers.png"), dpi=150)
