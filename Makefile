# One command for each thing a reader or an author does; `make help` lists them.
PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
JOBS ?= 2
BIN := $(VENV)/bin
RUN := $(BIN)/python

.DEFAULT_GOAL := help
.PHONY: help discover test check lab docs paper bench bench-full scoreboard foreign export shape lint coverage lowest newest licenses road clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

discover: $(VENV)/.core ## find the PDE behind a Burgers field with 30 % noise, and draw it
	@mkdir -p out
	@$(BIN)/ubic discover burgers --noise 30 --seed 0 --figure out/burgers.png

test: $(VENV)/.all ## install everything and run all tests, notebooks included
	@OMP_NUM_THREADS=1 TQDM_DISABLE=1 $(RUN) -m pytest -q -n $(JOBS) --dist worksteal tests

check: $(VENV)/.all ## for authors: the tests of the modules and of the project without its notebooks and its site, in three minutes
	@OMP_NUM_THREADS=1 TQDM_DISABLE=1 $(RUN) -m pytest -q -n $(JOBS) --dist worksteal tests/modules tests/project --ignore=tests/project/test_site.py -k "not notebook_runs"

lab: $(VENV)/.all ## open the notebooks in JupyterLab
	@$(BIN)/jupyter lab nbs

docs: $(VENV)/.all ## build the site in _docs
	@$(RUN) tools/build_docs.py

paper: $(VENV)/.all ## run every notebook in full, slow cells included, and keep the results
	@$(RUN) tools/run_notebooks.py --jobs $(JOBS)

bench: $(VENV)/.all ## measure speed beside other packages at small sizes, in ten minutes, for out/benchmarks
	@OMP_NUM_THREADS=1 TQDM_DISABLE=1 $(RUN) -m benchmarks

bench-full: $(VENV)/.all ## measure all of it at full size, on a quiet machine, for the tables of the project
	@OMP_NUM_THREADS=1 TQDM_DISABLE=1 $(RUN) -m benchmarks --full

scoreboard: $(VENV)/.all ## find fourteen PDEs that are not in the paper, at four noise levels
	@OMP_NUM_THREADS=1 TQDM_DISABLE= $(RUN) -m benchmarks.scoreboard --workers $(JOBS)

foreign: $(VENV)/.all ## find the PDEs of published files and of other people's simulators, at five noise levels
	@$(BIN)/pip install -q --disable-pip-version-check -e ".[foreign]"
	@OMP_NUM_THREADS=1 JAX_PLATFORMS=cpu TQDM_DISABLE= $(RUN) -m benchmarks.foreign --workers $(JOBS)

export: $(VENV)/.all ## for authors: write from the notebooks the package, README.md and all tables
	@$(BIN)/nbdev_export
	@$(BIN)/nbdev_clean
	@$(RUN) tools/contents.py
	@$(RUN) tools/speed.py
	@$(RUN) tools/results.py
	@$(RUN) tools/readme.py

shape: $(VENV)/.all ## for authors: how literate each notebook is
	@$(RUN) tools/shape.py

lint: $(VENV)/.all ## for authors: look for mistakes and long lines
	@$(BIN)/ruff check ubic tests tools benchmarks

coverage: $(VENV)/.all ## for authors: how much of the package runs in tests and notebooks together; fails below 90 %
	@OMP_NUM_THREADS=1 $(RUN) tools/covered.py --jobs $(JOBS) --record

lowest: $(VENV)/.all ## for authors: test with the lowest versions that settings.ini allows
	@$(RUN) tools/bounds.py lowest --torch "$(TORCH)" --jobs $(JOBS)

newest: $(VENV)/.all ## for authors: test with the newest versions that settings.ini allows
	@$(RUN) tools/bounds.py newest --torch "$(TORCH)" --jobs $(JOBS)

licenses: $(VENV)/.all ## for authors: list the licenses of all packages behind this one
	@$(RUN) tools/licenses.py

road: $(VENV)/.all ## for authors: draw the pictures of the front page
	@$(RUN) tools/road.py

clean: ## remove everything that was built, the environment too
	rm -rf $(VENV) .venv-lowest .venv-newest out build dist *.egg-info _docs _proc node_modules .ruff_cache .pytest_cache .hypothesis .ipynb_checkpoints
	find ubic tests tools benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/pip:
	@echo "Making the environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: settings.ini setup.py | $(BIN)/pip
	@echo "Installing the core packages (a minute or two, once)"
	@$(BIN)/pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.all: $(VENV)/.core
	@echo "Installing all packages (some minutes, once)"
	@$(RUN) -c 'import importlib.util as util, sys; sys.exit(util.find_spec("torch") is None)' || $(BIN)/pip install -q --disable-pip-version-check $(TORCH)
	@$(BIN)/pip install -q --disable-pip-version-check -e ".[all]"
	@touch $@
