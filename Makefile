# Two commands matter: `make run` shows the whole suite on real text, `make test` tests it.
# Each sets everything up by itself: a virtual environment, the locked packages, the corpora and vocabularies.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST_ARGS ?= -q -n 2 --dist worksteal

.PHONY: help setup fetch kernels checked run test campaign mutants cover vectors bench lint types lock clean

help:
	@echo 'make run     check and time every implementation on real text, print the tables'
	@echo 'make test    run the tests'
	@echo 'make campaign            random tests with new seeds (SECONDS=300 SEED=…)'
	@echo 'make mutants FILES="…"   plant faults in those files: which do the tests not find? (SAMPLE=40 SEED=…)'
	@echo 'make cover   run them and count the lines of impls they reach'
	@echo 'make vectors rewrite the test vectors of datasets/vectors (MODELS="…")'
	@echo 'make bench   benchmark our own hot paths: the working tree against its base commit'
	@echo 'make lint types   the other checks of CI'

setup: .venv/.ready

.venv/.ready: requirements.lock requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 15) else "bpebench needs Python 3.11 to 3.14, not " + sys.version.split()[0] + "; set PYTHON=python3.x")'
	@echo 'setting up .venv (once, about a minute) …' >&2
	@$(PYTHON) -m venv .venv
	@$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

fetch: setup
	@$(BIN)/bpebench fetch

# Compiles the kernels of `compiled` into the user's cache (once per machine and version, about 15 s on two cores).
kernels: setup
	@$(BIN)/python -c 'from impls.compiled.codegen.build import prepare; prepare()'

# The build that checks every access to memory, which the tests run too.
checked: setup
	@BPEBENCH_COMPILED_BUILD=checked $(BIN)/python -c 'from impls.compiled.codegen.build import prepare; prepare()'

run: fetch kernels
	@$(BIN)/bpebench run --tour

test: fetch kernels checked
	@$(BIN)/pytest $(PYTEST_ARGS)

SECONDS ?= 300

# Random texts, patterns, models, calls and steps, printed commands: each in turn, with seeds that it prints.
campaign: fetch kernels
	@$(BIN)/python tests/campaigns.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

mutants: fetch kernels
	@$(BIN)/python tests/mutants/plant.py $(FILES) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED))

# Takes three times as long as `test`: CPython counts lines one by one.
cover: fetch kernels
	@$(BIN)/pytest $(PYTEST_ARGS) --cov=impls --cov-report=term:skip-covered --cov-fail-under=95

# Rewrites the test vectors of datasets/vectors, or those of MODELS="…"; some minutes for each vocabulary.
vectors: fetch kernels
	@for model in $(or $(MODELS),$(patsubst %.jsonl.gz,%,$(notdir $(wildcard datasets/vectors/*)))); do \
		$(BIN)/bpebench conform --write-vectors datasets/vectors/$$model.jsonl.gz -m $$model || exit 1; done

bench: setup
	@$(BIN)/python tests/bench/compare.py

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup
	@$(BIN)/mypy

lock:
	uv pip compile pyproject.toml --extra bench --extra compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-strip-extras --no-header -q -o requirements.lock
	uv pip compile pyproject.toml --extra bench --extra compile --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-strip-extras --no-header -q -o requirements-dev.lock
	uv pip compile pyproject.toml --extra bench --extra compile --extra peers --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-strip-extras --no-header -q -o requirements-peers.lock

clean:
	rm -rf .venv build dist
