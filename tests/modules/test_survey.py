"What a field tells before anything is searched: its noise, and the boxes that fit."
import pytest

from denoising import published_noisy
from libraries import noisy
from ubic.denoise import noise_level
from ubic.library import automatic_box


@pytest.mark.parametrize("name", ["burgers", "kdv", "ks"])
@pytest.mark.parametrize("percent", [1, 10, 100])
def test_noise_level(reference, name, percent):
    u, noisy = published_noisy(reference, name, percent)
    assert noise_level(noisy)["u"] == pytest.approx(percent / 100 * u.std(), rel=0.02)


def test_automatic_box_fits(noisy):
    for field in noisy.values():
        for dim, (points, order) in automatic_box(field, 4).items():
            assert 3 <= points <= 0.3*field.sizes[dim] and order > (1 if dim == "t" else 4)
