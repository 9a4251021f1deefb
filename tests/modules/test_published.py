"The published numbers agree with each other."
import numpy as np
import pytest

from ubic import recipes


def test_every_recipe_has_its_published_rows():
    for name, recipe in recipes.recipes.items():
        for target in recipe.targets:
            for denoising in (True, False): assert (name, target, denoising) in recipes.published.index
    targets = [(name, target) for name, recipe in recipes.recipes.items() for target in recipe.targets]
    rows = [(name, target, denoising) for name, target in targets for denoising in (True, False)]
    assert list(recipes.published.index) == rows


@pytest.mark.parametrize("key", recipes.published_curves)
def test_published_curves_agree_with_the_table(key):
    name, target, quantity, denoising = key
    curve, row = np.array(recipes.published_curves[key]), recipes.published.loc[(name, target, denoising)]
    if quantity == "BIC": assert curve.min() - curve.max() == pytest.approx(row["R_BIC"], rel=1e-6)
    else: assert curve.min() == 1
