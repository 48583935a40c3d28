# Every target prepares the virtual environment by itself, on a bare machine too.
#
#   make demo                      the main job on a published recording, results in demo/
#   make test                      all that a change must pass
#   make PYTHON=python3.12 test    with another interpreter (3.11 or later)

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
TIER ?= full

BIN := $(VENV)/bin
# Named after what is to be installed: a change of either file installs anew, a checkout does not.
STAMP := $(VENV)/.installed-$(shell cat pyproject.toml constraints.txt | cksum | tr -d ' ')

# Two workers share two cores: no library may start threads of its own.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export MPLBACKEND ?= agg

.PHONY: help install demo test lint types unit quick validate benchmark docs format clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo       find the equation of a published recording; leaves demo/figure.png'
	@echo 'make test       lint, types, layers, tests with the quick validation, doctests, notebooks, packaging'
	@echo 'make lint       ruff, basedpyright, import-linter'
	@echo 'make quick      the quick tier of the validation suite'
	@echo 'make validate   all predictions against measurements; leaves report/'
	@echo 'make benchmark  speed against other packages'
	@echo 'make docs       the site, strictly, into build/site'
	@echo 'make format     let ruff format the code'
	@echo 'make clean      remove what the targets above made'

install: $(STAMP)

$(STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Python 3.11 or later is needed: make PYTHON=/path/to/python3.11'; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'installing into $(VENV): takes a few minutes the first time'
	$(BIN)/python -m pip install -q -q -c constraints.txt -e '.[dev]'
	@rm -f $(VENV)/.installed-*
	@touch $@

demo: $(STAMP)
	$(BIN)/python examples/demo.py demo

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

quick: $(STAMP)
	$(BIN)/sciml validate --tier quick

unit: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# In this order also under make -j: the tests share the cores among themselves. They run every
# quick case of the validation suite as well (tests/sciml/validation/test_quick_tier.py).
test:
	$(MAKE) lint
	$(MAKE) unit

validate: $(STAMP)
	$(BIN)/sciml validate --tier $(TIER) --html report --json report/report.json

benchmark: $(STAMP)
	$(BIN)/python validation/benchmarks/discovery.py

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf demo report build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
