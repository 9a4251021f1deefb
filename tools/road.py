"""Draw the pictures of the front page.

nbs/images/road.png is the road from a field to an equation, each stage on the same noisy Burgers field; burgers.png is
the result.

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
STAGES = {
    "field": "what was measured",
    "denoise": "optional",
    "library": "candidate terms",
    "best_subsets": "one per size",
    "select": "fit against uncertainty",
    "validate": "does it reproduce the data?",
}
INK, CARD, ACCENT, GRAY = "#1f2933", "#fbfbf8", "#c2410c", "#8a94a0"
WIDTH, HEIGHT, GAP, AISLE = 0.29, 0.44, 0.06, 0.1 # of the cards and between them, as parts of the figure


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
    count = len(path.system.terms)
    inside = np.array([[number in support for number in range(count)] for support in path.supports], dtype=float)
    inside[chosen - 1] *= 2
    colors = matplotlib.colors.ListedColormap(["#eceae4", GRAY, ACCENT])
    ax.imshow(inside, aspect="auto", cmap=colors, vmin=0, vmax=2, interpolation="nearest")
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
    line = FancyArrowPatch(
        path=way,
        arrowstyle="-|>",
        mutation_scale=16,
        color=GRAY,
        lw=2.2,
        joinstyle="round",
        fill=False,
        transform=fig.transFigure,
    )
    fig.add_artist(line)


def card(fig, left, bottom, stage, said):
    "A card with the name of a stage above and a remark below."
    box = FancyBboxPatch(
        (left, bottom),
        WIDTH,
        HEIGHT,
        boxstyle="round,pad=0,rounding_size=0.02",
        mutation_aspect=1.6,
        fc=CARD,
        ec="#d8d5cc",
        lw=1,
        transform=fig.transFigure,
        zorder=-1,
    )
    fig.add_artist(box)
    words = {"x": left + WIDTH/2, "ha": "center", "va": "center"}
    name = {"color": INK, "fontsize": 13, "family": "monospace", "weight": "bold"}
    fig.text(y=bottom + 0.89*HEIGHT, s=stage, **words, **name)
    fig.text(y=bottom + 0.08*HEIGHT, s=said, **words, color="#52606d", fontsize=10)


def draw():
    "Two rows of three cards, with the arrows between them."
    field, clean, system, path, selection, verdict = travel()
    shows = [
        lambda ax: show_field(ax, field),
        lambda ax: show_field(ax, clean),
        lambda ax: show_library(ax, system),
        lambda ax: show_path(ax, path, selection.size),
        lambda ax: show_selection(ax, selection),
        lambda ax: show_validation(ax, field, verdict),
    ]
    fig = plt.figure(figsize=(8, 5), dpi=150)
    for number, ((stage, said), show) in enumerate(zip(STAGES.items(), shows)):
        left, bottom = 0.005 + (number % 3)*(WIDTH + GAP), 0.01 + (number < 3)*(HEIGHT + AISLE)
        card(fig, left, bottom, stage, said)
        ax = fig.add_axes([left + 0.025, bottom + 0.17*HEIGHT, WIDTH - 0.05, 0.64*HEIGHT])
        show(ax)
        ax.set(xticks=[], yticks=[], facecolor=CARD)
        ax.spines[:].set_visible(False)
        middle = bottom + HEIGHT/2
        if number % 3: arrow(fig, (left - GAP + 0.006, middle), (left - 0.004, middle))
    first, last, middle = 0.005 + WIDTH/2, 0.995 - WIDTH/2, 0.01 + HEIGHT + AISLE/2
    arrow(fig, (last, middle + AISLE/2 - 0.008), (last, middle), (first, middle), (first, middle - AISLE/2 + 0.006))
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
