"""Packaging, read from `settings.ini`: the one place where metadata and requirements live."""
import configparser
import pathlib

from setuptools import find_packages, setup

config = configparser.ConfigParser(delimiters=["="])
config.read(pathlib.Path(__file__).with_name("settings.ini"), encoding="utf-8")
settings = config["DEFAULT"]
groups = [key for key in settings if key.endswith("_requirements")]
extras = {key.removesuffix("_requirements"): settings[key].split() for key in groups}
# they need more than pip, MPI and FFTW or Julia; or have licenses that each user has to accept, GPL or proprietary;
# or serve a benchmark only
by_hand = {"dedalus", "pysr", "peers", "foreign"}
extras["all"] = sorted({requirement for name, group in extras.items() if name not in by_hand for requirement in group})
entry_points = {
    "console_scripts": settings["console_scripts"].split(),
    "nbdev": [f"{settings['lib_name']}={settings['lib_path']}._modidx:d"],
}

setup(
    name=settings["lib_name"],
    version=settings["version"],
    description=settings["description"],
    long_description=pathlib.Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=settings["author"],
    author_email=settings["author_email"],
    url=settings["git_url"],
    license="MIT",
    keywords=settings["keywords"],
    packages=find_packages(include=["ubic", "ubic.*"]),
    package_data={"ubic": ["*.csv", "py.typed"]},
    python_requires=f">={settings['min_python']}",
    install_requires=settings["requirements"].split(),
    extras_require=extras,
    entry_points=entry_points,
    zip_safe=False,
)
