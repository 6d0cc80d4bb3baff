# Targets: setup demo check test proof fuzz bench alarms docs pictures format clean.  Only python3 (3.11+), make and a package registry are assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_STAMP := $(VENV)/.installed-test
# hundreds of processes start in the tests: none compiles the package again
export PYTHONDONTWRITEBYTECODE :=
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: setup demo check quick test proof lint types layers browser unit fuzz bench alarms docs pictures format clean

setup: $(STAMP)

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(TEST_STAMP): $(STAMP)
	$(PIP) -e '.[test,docs]'
	@touch $@

demo: setup
	$(BIN)/elastocal demo

# Layers and types are checked while the tests run, which wait for browsers and servers now and then; the documentation
# comes last, since it shows the published cases as the tests have just recomputed them.
test: lint
	@$(MAKE) --no-print-directory -j 2 layers types unit
	@$(MAKE) --no-print-directory docs

# Daily work: lint, then layers and types beside the tests of algebra, model, kernel and front door.
check: lint
	@$(MAKE) --no-print-directory --output-sync=target -j 2 layers types quick

quick: $(TEST_STAMP)
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest tests/spatial tests/solve tests/model tests/measure tests/front_door

lint: $(TEST_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# with mypy's own choice a quarter of its time goes into searching for garbage that is not there; 0.9 GB instead of 0.7
types: $(TEST_STAMP)
	$(BIN)/python -c 'import gc; gc.set_threshold(3000000, 10, 10); gc.set_threshold = lambda *_: None; \
	  from mypy.__main__ import console_entry; console_entry()'

layers: $(TEST_STAMP)
	$(BIN)/lint-imports

# Reports are opened in Chromium: Debian's is installed where that is allowed, CHROMIUM=path names another one.
browser:
	@command -v "$${CHROMIUM:-chromium}" > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
	  && { apt-get install -y -q chromium || { apt-get update -q && apt-get install -y -q chromium; }; } > /dev/null; } \
	  || echo "no chromium: tests of reports in a browser are left out (with CI=true they fail); set CHROMIUM=path"

# Each process goes through its share of the tests in order, so that what a file or folder sets up is set up once, and
# takes from the rest of the others when it is done; one more than two cores, since tests wait for browsers, servers and kills.
WORKERS ?= 3
unit: $(TEST_STAMP) browser
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal

# The tests that draw at random with many draws instead of few, and those of minutes: level, coverage and power to a percent; hours.
proof: $(TEST_STAMP)
	ELASTOCAL_PROOF=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal -o timeout=0 -m "" \
	  tests/truth tests/calibration tests/reduction tests/procedures tests/solve tests/compensation

# 10 000 damaged files for every reader (COUNT=..., READERS="'robot yaml' 'log rsi'"), and kills at every write of every command.
fuzz: $(TEST_STAMP)
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -W ignore -m fuzz $(or $(COUNT),10000) $(READERS)
	ELASTOCAL_FUZZ=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest tests/app/test_killed.py

docs: $(TEST_STAMP)
	$(BIN)/sphinx-build -q -W --keep-going -j 2 -b html docs docs/_build/html
	@echo "documentation: docs/_build/html/index.html"

bench: $(TEST_STAMP)
	$(PIP) -e '.[bench]'
	$(BIN)/python -m benchmarks

# Level, power and coverage of alarms where the model is right and where it is wrong; an hour with 100 robots each.
TRIALS ?= 100
alarms: $(TEST_STAMP)
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -m oracle.wrong_models --trials $(TRIALS)

pictures: $(TEST_STAMP) demo
	$(BIN)/python docs/pictures.py elastocal-demo/reports/demo.html

format: $(TEST_STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis fuzz-failures
