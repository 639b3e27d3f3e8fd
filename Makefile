# Every target does its own set-up: a fresh machine needs only Python 3.11 to 3.14, Java >= 17 and make.
.DEFAULT_GOAL := help
SF ?= 1
PYTEST_ARGS ?=
# Tests run in two processes, each with a Spark session of its own; a file's tests stay together.
WORKERS ?= 2
READY := .venv/.ready
PYTEST := .venv/bin/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
.PHONY: help setup demo test test-all test-connect check charts fuzz fuzz-spark search mutate clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make .venv from the lock file, with .venv/bin/ivm and Delta's JARs

$(READY): uv.lock pyproject.toml scripts/setup.sh scripts/fetch_jars.py scripts/archive_classes.py
	@bash scripts/setup.sh
	@touch $@

demo: $(READY) ## TPC-H views kept fresh by an Airflow DAG, with times (SF=0.1 for a quick look)
	@.venv/bin/ivm demo --sf $(SF)

test: $(READY) ## Run the ordinary tests
	@$(PYTEST) $(PYTEST_ARGS)

test-all: $(READY) ## Run all tests, the slow ones too: two hours and more
	@$(PYTEST) -m "slow or not slow" $(PYTEST_ARGS)

test-connect: $(READY) ## Run the tests that maintain views as clients of Spark Connect servers
	@IVM_TEST_SPARK=connect $(PYTEST) tests/engine tests/maintain $(PYTEST_ARGS)

check: $(READY) ## Check style, types and the direction of imports
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports

charts: $(READY) ## Draw the charts of docs/performance.md from its tables
	@.venv/bin/python -m bench.doc_charts

N ?= 20000
SEED ?= 1
fuzz: $(READY) ## Search for wrong views: N=20000 random (view, trace) cases from SEED=1, in DuckDB
	@.venv/bin/python -m tests.fuzz --cases $(N) --seed $(SEED)

fuzz-spark: $(READY) ## The same on Spark and Delta, by the whole path: N=500 (view, trace) cases of two batches each
	@.venv/bin/python -m tests.fuzz --spark --cases $(if $(filter file,$(origin N)),500,$(N)) --seed $(SEED)

TIMES ?= 10
search: $(READY) ## Search for wrong rules: the property tests with TIMES=10 the ordinary number of examples
	@.venv/bin/python -m pytest -p tests.searching --times $(TIMES) -m "slow or not slow" $(PYTEST_ARGS)

MUTANTS ?= 100
mutate: $(READY) ## Break plan/ and delta/ in MUTANTS=100 random places, one at a time, and see what the tests miss
	@.venv/bin/python scripts/mutate.py --mutants $(MUTANTS) --seed $(SEED)

clean: ## Remove what was made here: .venv, .ivm and caches
	rm -rf .venv .ivm .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache spark-warehouse metastore_db derby.log dist
