"Pictures in pages."
import matplotlib.pyplot as plt
import numpy as np
import pytest

from ubic.ground import show


def line():
    axes = plt.figure().add_subplot()
    axes.plot([0, 1])
    return axes


@pytest.mark.parametrize("kind, media", [("png", "image/png"), ("svg", "image/svg+xml")])
def test_pictures_are_the_same_every_time_and_leave_no_figure(kind, media):
    before = plt.get_fignums()
    one, other = (show.figure_html(line, "a < b & \"c\"", kind) for _ in range(2))
    assert one == other and f'src="data:{media};base64,' in one and one.count("a &lt; b &amp; &quot;c&quot;") == 2
    assert plt.get_fignums() == before
    assert show.figure_html(lambda: np.array([line()]), "two") == show.figure_html(line, "two")


def test_a_picture_is_drawn_in_the_settings_of_the_session():
    "The first figure also starts the backend, which should not forget what it sets up when the picture is done."
    import matplotlib.pyplot as plt
    from ubic.ground.show import picture_source
    usual, seen = plt.rcParams["svg.hashsalt"], []
    def draw():
        seen.append(plt.rcParams["svg.hashsalt"])
        return plt.subplots()[1]
    first, second = picture_source(draw, "svg"), picture_source(draw, "svg")
    assert first == second and seen == [usual, usual]
