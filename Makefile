# Everything below works from a fresh clone: each target sets up what it needs in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SESSION ?=

.PHONY: setup run test test-editors lint format schema bench soak clean

setup: $(VENV)/.ready

# Debian ships python3 without ensurepip; say so, or install it where we may.
$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "octavo needs Python 3.11 or newer (set PYTHON=...)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq python3-venv; \
	  else echo "python3-venv is missing: install it with your package manager and try again"; exit 1; fi; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The main job: compact an example session (or SESSION=file) through a real daemon, on a copy.
run: setup
	@$(BIN)/python -m octavo demo $(SESSION)

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Drive the plugins in real editors; pictures of every step land in build/editors.
test-editors: setup
	@for suite in editors/*/test.sh; do echo "$$suite"; sh "$$suite" || exit 1; done

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Regenerate what is derived from the protocol models and the command line.
schema: setup
	$(BIN)/python -m octavo_protocol.generate
	$(BIN)/python -m octavo.server.advertise
	$(BIN)/python -m octavo.cli.reference

bench: setup
	$(BIN)/python -m tests.bench

# What takes long: 5,000 SIGKILLs, 100 clients for a minute, 100,000 damaged frames.
soak: setup
	OCTAVO_SOAK_ROUNDS=5000 $(BIN)/python -m pytest tests/faults -k sigkill --timeout 36000
	OCTAVO_SOAK=1 $(BIN)/python -m pytest tests/faults/test_soak.py tests/faults/test_fuzz.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
