# On a fresh machine only Python 3.11+, pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint browser clean

demo: $(VENV)/.core  ## set up, then find the falsified tags of the bundled digits
	$(BIN)/amiss demo --save demo --report demo/report.html
	$(BIN)/amiss find demo/digits.csv --outputs 'tag_*' --id picture --top 5 --reasons 2 -o demo/found.csv
	$(BIN)/amiss explain demo/digits.csv digit-0477 --outputs 'tag_*' --id picture
	@echo "To go on with your own file: . $(VENV)/bin/activate, then amiss find --help"

test: $(VENV)/.dev browser  ## set up, then run the tests
	$(BIN)/pytest -n 2 --dist loadfile

browser: $(VENV)/.dev  ## the tests look at the report in a real browser
	@BIN=$(BIN) sh tests/install_browser.sh

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

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
	rm -rf $(VENV) demo
