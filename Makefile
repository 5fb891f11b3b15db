# Everything is done from here; `make` lists what there is. Only python3 >= 3.11, git and make have to be installed.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

export PYTHON := $(or $(PYTHON),$(shell .ci/python))
unexport PYTHONDONTWRITEBYTECODE # a run starts hundreds of processes; each would compile everything again
ARGS ?=
PY := .venv/bin/python
UV := .ci/uv

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  ARGS=… is passed on by demo, up, services, test, mutants, chaos, crashes, bench and lock, as in: make test ARGS='-k ledger -x'"

env: .venv/.ready ## build .venv/ from the lock, ready to run and to test
	@:

.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Abacus needs Python 3.11 or newer, and $(PYTHON) \
	is " + sys.version.split()[0] + ". Name another one: make env PYTHON=python3.12")'
	@echo "building .venv/ from requirements.lock"
	@test -x $(PY) || \
		$(UV) venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv
	@$(UV) pip sync --quiet --python $(PY) --require-hashes requirements.lock
	@$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@

lock: ## resolve pyproject.toml again; ARGS=--upgrade takes newer versions too
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --custom-compile-command "make lock" \
		--all-extras --group dev --group build $(ARGS) -o requirements.lock pyproject.toml
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --custom-compile-command "make lock" \
		--constraint requirements.lock --no-annotate -o requirements.runtime.lock pyproject.toml

demo: env ## two thousand transactions through the whole house, on this machine
	@.venv/bin/abacus demo $(ARGS)

up: env ## the same house, left running
	@.venv/bin/abacus up $(ARGS)

services: env ## Kafka, SQS and Postgres as in production, without Docker; ARGS=cassandra too; needs Java 17 and Maven
	@$(PY) -m localstack start $(ARGS)

services-stop: env ## stop them; their data stays in .abacus/services/
	@$(PY) -m localstack stop

PYTEST := $(PY) -m pytest -n $$($(PY) -c 'import os; print(min(5, 3 * os.cpu_count()))')

test: env ## all tests but the long ones, in four minutes on two cores; ARGS='tests/ledger -x' runs what it names
	@$(PYTEST) $(or $(ARGS),-m "not long")

test-long: env ## the long tests: processes that are killed, whole stacks, the console in a browser; some three minutes
	@$(PYTEST) -m long $(ARGS)

mutants: env ## take each lock, constraint and check away from the posting code and the console; a test must notice
	@$(PY) -m tests.reliability.mutants $(ARGS)

pictures: env ## the pages of the console in a demo's house, for docs/country-teams/console.md; needs Chromium
	@$(PY) -m tests.console.pictures

chaos: env ## real workers on the services, faults of every kind, and everything accounted for; ARGS=--short is less
	@$(PY) -m tests.reliability.chaos $(ARGS)

crashes: env ## a worker killed on each side of each call beyond its process, another one takes over; ARGS='--sample 40' is less
	@$(PY) -m tests.reliability.chaos.crashes $(ARGS)

nightly: env ## every test with new random cases, and on slices, all crash points, the whole chaos suite; for a machine with hours to spare
	@tests=0; slices=0; crashes=0; chaos=0; \
	$(PYTEST) --hypothesis-profile searching || tests=$$?; \
	ABACUS_TEST_SLICES=3 $(PYTEST) --hypothesis-profile searching -m 'services and not once' || slices=$$?; \
	$(PY) -m tests.reliability.chaos.crashes || crashes=$$?; \
	$(PY) -m tests.reliability.chaos || chaos=$$?; \
	echo "nightly: tests ended with $$tests, on slices with $$slices, crash points with $$crashes, chaos with $$chaos"; \
	exit $$((tests + slices + crashes + chaos > 0))

check: env ## every gate that is not a test
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	.venv/bin/lint-imports
	$(PY) -m abacus.cli.schemas --check
	$(PY) -m abacus.cli.growth_page --check
	$(PY) client/generate_sync.py --check
	$(UV) pip check --quiet --python $(PY)

monitoring: env ## the alerts of docs/operate/monitoring, checked and tested, and the names of all metrics; needs promtool
	@$(PY) -m tests.docs.exposition | promtool check metrics
	@promtool check rules docs/operate/monitoring/alerts.yaml
	@promtool test rules docs/operate/monitoring/alerts_test.yaml

format: env ## format the code and mend what can be mended
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

bench: env ## the benchmarks, as a table
	@$(PY) -m benchmarks $(ARGS)

wheel: env ## build the wheels into dist/: the house's, and its client's
	@$(UV) build --quiet --wheel --no-build-isolation --python $(PY) --out-dir dist
	@$(UV) build --quiet --wheel --no-build-isolation --python $(PY) --out-dir dist client

clean: ## remove what was built; .venv/ and .uv/ too
	rm -rf .venv .uv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find abacus client workers alembic tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help env lock demo up services services-stop test test-long mutants pictures chaos crashes nightly check monitoring format bench wheel clean
