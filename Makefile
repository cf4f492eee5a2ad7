# The door to everything: what CI runs is what a person runs. `make help` lists it.
.DEFAULT_GOAL := help
.PHONY: help test test-slow test-oldest check format bench bench-scaling reproduce evidence clean

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
	$(PYTHON) -m venv $(OLDEST)
	$(BIN)/python .ci/floors.py > $(OLDEST)/floors.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/floors.txt --editable '.[test]'
	@touch $@

test-oldest: $(OLDEST)/.has-test ## Run the tests with the oldest allowed versions
	$(OLDEST)/bin/python -m pytest -n auto -m "not slow"

check: $(VENV)/.has-check ## Lint, formatting, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.has-check ## Format the code and fix what the linter can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

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

reproduce: $(VENV)/.has-cli ## Compute all tables and figures of the paper (minutes) and write results/report.html
	$(BIN)/optiscore reproduce paper

evidence: $(VENV)/.has-cli $(VENV)/.has-conformal ## Show when to use what, and when not (some 20 minutes) and write results/evidence.html
	$(BIN)/optiscore reproduce evidence

clean: ## Remove the virtual environment and all caches
	rm -rf $(VENV) $(OLDEST) .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
