# On a fresh machine only Python 3.11+, pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint browser proofs coverage mutants clean

demo: $(VENV)/.core  ## set up, then find the falsified tags of the bundled digits
	$(BIN)/amiss demo --save demo --report demo/report.html
	$(BIN)/amiss find demo/digits.csv --outputs 'tag_*' --id picture --top 5 --reasons 2 -o demo/found.csv
	$(BIN)/amiss explain demo/digits.csv digit-0477 --outputs 'tag_*' --id picture
	@echo "To go on with your own file: . $(VENV)/bin/activate, then amiss find --help"

test: $(VENV)/.dev browser  ## set up, then run the tests
	$(if $(COVERAGE),$(BIN)/coverage erase && $(BIN)/coverage run -m,$(BIN)/python -m) pytest -n 2 --dist loadfile
	$(if $(COVERAGE),$(BIN)/coverage combine --quiet && $(BIN)/coverage report --skip-covered)

browser: $(VENV)/.dev  ## the tests look at the report in a real browser
	@BIN=$(BIN) sh tests/support/install_browser.sh

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

proofs: $(VENV)/.dev  ## hours: a million mutated files per format, a thousand kills, a hundred seeds of odd tables
	$(BIN)/pytest -m long -rP tests

coverage:  ## the tests, and how much of the package they cover, processes they start included
	$(MAKE) test COVERAGE=1

mutants: $(VENV)/.python  ## is every change to weights, rules, decisions and evaluation noticed? (mutmut wants pytest 8)
	$(PYTHON) -m venv $(VENV)/mutants
	$(VENV)/mutants/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' 'pytest<9' 'mutmut>=3.8'
	$(VENV)/mutants/bin/python -m mutmut run --max-children 2
	$(VENV)/mutants/bin/python -m mutmut results

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "amiss needs Python 3.11 or later; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: pyproject.toml | $(VENV)/.python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) demo mutants .coverage .coverage.*
