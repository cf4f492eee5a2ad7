# The door to everything: what CI runs is what a person runs. `make help` lists it.
.DEFAULT_GOAL := help
.PHONY: help dist docs test test-slow test-oldest test-next check format bench bench-scaling reproduce evidence clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "optiscore needs Python >= 3.11; call make PYTHON=/path/to/it")'
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras: made anew when the dependencies change.
$(VENV)/.has-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

test: $(VENV)/.has-test ## Run the tests (a few minutes)
	$(BIN)/python -m pytest -n auto -m "not slow"

test-slow: $(VENV)/.has-test ## Run the slow statistical tests (all of the paper's data sets: OPTISCORE_DATA)
	$(BIN)/python -m pytest -n auto -m slow

# The oldest versions that pyproject allows, in an environment of their own.
$(OLDEST)/.has-test: pyproject.toml .ci/floors.py | $(BIN)/python
	$(BIN)/python -m venv $(OLDEST)
	$(BIN)/python .ci/floors.py > $(OLDEST)/floors.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/floors.txt --editable '.[test]'
	@touch $@

# What is left out looks at pages and runs experiments, by the same calls of the libraries as the rest.
OLDEST_SKIPS := tests/reproduction tests/table/test_page.py tests/table/test_real_tables.py
test-oldest: $(OLDEST)/.has-test ## Run most tests with the oldest allowed versions
	$(OLDEST)/bin/python -m pytest -n auto -m "not slow" $(addprefix --ignore=,$(OLDEST_SKIPS))

# The newest pre-release of scikit-learn, where there is one beyond the version at hand.
NEXT := .venv-next
test-next: $(VENV)/.has-test ## Run the tests with scikit-learn's newest pre-release, if there is one
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check --dry-run --report - --pre --upgrade --no-deps scikit-learn \
	    | grep -q '"name": "scikit-learn"'; then \
	  $(BIN)/python -m venv $(NEXT) && \
	  $(NEXT)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' && \
	  $(NEXT)/bin/python -m pip install --quiet --disable-pip-version-check --pre --upgrade --no-deps scikit-learn && \
	  $(NEXT)/bin/python -m pytest -n auto -m "not slow" $(addprefix --ignore=,$(OLDEST_SKIPS)); \
	else echo "there is no pre-release of scikit-learn beyond the version at hand: nothing to test"; fi

check: $(VENV)/.has-check ## Lint, formatting, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.has-check ## Format the code and fix what the linter can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Examples are executed, doctests run, links within the site checked, and every warning is an error.
SITE := docs/_build
GENERATED := docs/auto_examples docs/reference/generated docs/reference/backreferences docs/sg_execution_times.rst
docs: $(VENV)/.has-docs ## Build the site (two minutes): docs/_build/html/index.html
	rm -rf $(SITE) $(GENERATED)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs $(SITE)/html -d $(SITE)/doctrees
	$(BIN)/sphinx-build -W -q -b doctest docs $(SITE)/doctest -d $(SITE)/doctrees
	$(BIN)/linkchecker --no-status --no-warnings $(SITE)/html/index.html

# The wheel is built from the sdist, installed in an environment of its own, and tested by the tests of the sdist, without src
# beside them. Meanwhile network access is blocked by a proxy that does not exist.
DIST_ENV := build/dist-env
DIST_TESTS ?= tests
OFFLINE := env PIP_NO_INDEX=1 http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 no_proxy=localhost,127.0.0.1
dist: $(VENV)/.has-dist ## Build sdist and wheel, check them, and run the tests against the wheel: dist/
	rm -rf dist build
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	$(BIN)/python .ci/check_dist.py dist
	$(BIN)/python -m venv $(DIST_ENV)
	$(DIST_ENV)/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[test]" hatchling hatch-fancy-pypi-readme
	mkdir build/sdist && tar -xzf dist/*.tar.gz -C build/sdist --strip-components 1
	$(OFFLINE) $(DIST_ENV)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/again build/sdist
	rm -r build/sdist/src
	cd build/sdist && $(OFFLINE) ../../$(DIST_ENV)/bin/python -m pytest -n auto -m "not slow" $(DIST_TESTS)

bench: $(VENV)/.has-cli ## Measure the speed (some ten minutes)
	$(BIN)/python benchmarks/scores.py --store results/speed
	$(BIN)/python benchmarks/classifier.py --store results/speed
	$(BIN)/python benchmarks/sizes.py --store results/speed
	$(BIN)/python benchmarks/kernel.py --store results/speed
	$(BIN)/python benchmarks/cross_validation.py --store results/speed
	$(BIN)/python benchmarks/command.py --store results/speed

bench-scaling: $(VENV)/.has-test ## Measure fit on Dask and simulate large clusters (some ten minutes)
	$(BIN)/python benchmarks/dask_fit.py --store results/speed
	$(BIN)/python benchmarks/cluster_simulation.py --store results/speed

reproduce: $(VENV)/.has-reproduction ## Compute all tables and figures of the paper (minutes) and write results/report.html
	$(BIN)/python -m reproduction paper

evidence: $(VENV)/.has-reproduction $(VENV)/.has-conformal ## Show when to use what, and when not (some 30 minutes) and write results/evidence.html
	$(BIN)/python -m reproduction evidence

clean: ## Remove the virtual environment and all caches
	rm -rf $(VENV) $(OLDEST) $(NEXT) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist $(SITE) $(GENERATED)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
