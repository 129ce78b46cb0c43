# Everything runs in .venv, which the first target that needs it makes; a change of a lock file or of pyproject.toml
# makes the next call install what differs. Only a Python >= 3.11, make and a package index are needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_STAMP := $(VENV)/.installed-demo
DEV_STAMP := $(VENV)/.installed-dev
INSTALL := $(BIN)/python tools/install.py
PYTEST := $(BIN)/python -m pytest
LOCK := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test test-quick test-pythons lint format docs lock bench evaluator-study setup clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

demo: $(DEMO_STAMP)  ## Score the bundled examples, from documents to reports, in demo-run/
	$(BIN)/python -m docassay.examples

test: $(DEV_STAMP)  ## Run all tests
	$(PYTEST) -n 2 --dist loadgroup

test-quick: $(DEV_STAMP)  ## Run all tests but the slow ones and those that drive a browser
	$(PYTEST) -n 2 --dist loadgroup -m "not slow and not browser"

test-pythons: $(DEV_STAMP)  ## Run the scorer's tests on the newer Pythons found here
	$(BIN)/python -m tools.test_pythons

lint: $(DEV_STAMP)  ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(DEV_STAMP)  ## Format and sort imports
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(DEV_STAMP)  ## Renew docs/cli.md from the commands' own help
	$(BIN)/python tools/cli_reference.py > docs/cli.md.new && mv docs/cli.md.new docs/cli.md

lock: $(DEV_STAMP)  ## Renew requirements/*.txt: hashes, and no registry addresses
	$(LOCK) --all-extras requirements/dev.in -o requirements/dev.txt
	$(LOCK) --extra run --extra predict --extra judge --extra report -c requirements/dev.txt -o requirements/demo.txt

bench: $(DEV_STAMP)  ## Compare speed and memory with peers, each in an environment of its own
	$(BIN)/python -m bench

evaluator-study: $(DEV_STAMP)  ## Measure what the discovery evaluator itself gets wrong
	$(BIN)/python -m bench.evaluator_study

setup: $(DEV_STAMP)  ## Make .venv with everything a developer needs

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "docassay needs Python >= 3.11, and '$(PYTHON)' is not one; name one with: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }

$(DEMO_STAMP): requirements/demo.txt pyproject.toml tools/install.py | $(VENV)/pyvenv.cfg
	$(INSTALL) requirements/demo.txt
	@touch $@

$(DEV_STAMP): requirements/dev.txt pyproject.toml tools/install.py | $(VENV)/pyvenv.cfg
	$(INSTALL) requirements/dev.txt
	@touch $@ $(DEMO_STAMP)

clean:  ## Remove environments, caches and what the demo wrote
	rm -rf .venv .venv-* demo-run build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
