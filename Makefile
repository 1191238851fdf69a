# make demo | test | check | deep | bench | sanitize | fuzz | clean
# The first run makes .venv; later ones use it, and need no network. PYTHON=python3.12 chooses which.

PYTHON  ?= python3
VENV    := .venv
BENCH   := .venv-bench
LOWEST  := .venv-lowest
BIN     := $(VENV)/bin
PROFILE ?= dev
JOBS    ?= 2
FUZZ_SECONDS ?= 600
PYTHONS ?=
SANITIZE ?=
ARGS    ?=

# All kernels through the C back end, compiled with address and undefined-behaviour sanitizers.
# Python itself is not, so their run-time libraries must be loaded before anything else. What is too
# large to allocate is an error, and not the end of the process.
SANITIZED = LINNET_BACKEND=c LINNET_SANITIZE=1 \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096 \
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
  LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libubsan.so)"

.PHONY: demo test check lint types deep deep-types deep-loader deep-lowest deep-pythons deep-files \
  size bench sanitize fuzz clean
.DEFAULT_GOAL := test

# -- environments ------------------------------------------------------------------------------

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Linnet needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@# Python compiles what it imports: to compile all there is takes some twenty seconds.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@touch $@

$(LOWEST)/.installed: pyproject.toml tools/lowest.py
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tools/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  --constraint $(LOWEST)/constraints.txt --editable '.[dev]'
	@touch $@

$(BENCH)/.installed: pyproject.toml benchmarks/peers.txt
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@# A peer that does not install here is left out; the table then says why.
	@grep -v '^#' benchmarks/peers.txt | while read -r peer; do \
	  $(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --prefer-binary $$peer \
	    || echo "skipped: $$peer does not install here"; \
	done
	@touch $@

# -- what to run -------------------------------------------------------------------------------

demo: $(VENV)/.installed
	@$(BIN)/python examples/tour.py

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(JOBS) --hypothesis-profile=$(PROFILE) $(ARGS)

check: lint types test

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy
	@$(BIN)/python tools/user_types.py mypy

# All that takes too long for `make test`; other interpreters only where PYTHONS names some.
deep: deep-types deep-loader deep-lowest $(if $(PYTHONS),deep-pythons) deep-files

# What users write, under pyright as well; its packages hold the checker and what runs it.
deep-types: types
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[types]'
	$(BIN)/python tools/user_types.py pyright

# The tests with LLVM's loader, which all systems but x86-64 Linux have.
deep-loader: $(VENV)/.installed
	LINNET_LOADER=llvm $(BIN)/python -m pytest -n $(JOBS) --hypothesis-profile=$(PROFILE) $(ARGS)

# The tests with the lowest versions that are promised (PYTHON=python3.11 is the lowest Python).
deep-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n $(JOBS) --hypothesis-profile=$(PROFILE) $(ARGS)

# The tests with each of PYTHONS="python3.13 python3.14"; one that is missing has not passed.
deep-pythons: $(VENV)/.installed
	$(BIN)/python tools/pythons.py $(PYTHONS) -- -n $(JOBS) --hypothesis-profile=$(PROFILE) $(ARGS)

# Readers of files on files that were changed, until the time is up. ARGS="--case npz:1234" runs one
# case again, SANITIZE=1 the kernels under sanitizers.
deep-files: $(VENV)/.installed
	LINNET_OPTIMIZE=0 $(if $(SANITIZE),$(SANITIZED)) \
	$(BIN)/python -m tests.files.fuzz --seconds $(FUZZ_SECONDS) $(ARGS)

size: $(VENV)/.installed
	@$(BIN)/python tools/size.py

bench: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks $(ARGS)

sanitize: $(VENV)/.installed
	$(SANITIZED) \
	$(BIN)/python -m pytest -n $(JOBS) --hypothesis-profile=$(PROFILE) tests/oracle $(ARGS)

# The oracle tests, again and again with new seeds, until the time is up or one fails.
fuzz: $(VENV)/.installed
	@end=$$(( $$(date +%s) + $(FUZZ_SECONDS) )); rounds=0; \
	while [ $$(date +%s) -lt $$end ]; do \
	  $(BIN)/python -m pytest -q -x --no-header -n $(JOBS) --hypothesis-profile=fuzz \
	    --hypothesis-seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ') tests/oracle $(ARGS) || exit 1; \
	  rounds=$$((rounds + 1)); \
	done; echo "fuzz: $$rounds rounds in $(FUZZ_SECONDS) s, nothing found"

clean:
	rm -rf $(VENV) .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmarks/.build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
