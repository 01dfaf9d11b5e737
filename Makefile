# Everything a newcomer needs: `make demo`, `make test`. Both make .venv and install the project.
VENV := .venv
PY   := $(VENV)/bin/python
DEMO := demo
REWIND_BUDGET := 10
SHELL := /bin/bash
# Containers of Python forbid it; the suite begins thousands of processes, each of which would compile its modules.
unexport PYTHONDONTWRITEBYTECODE
# C++ of our own; operators are kept as their authors would write them.
CPP := 'ci/**/*.h' 'ci/**/*.cpp' 'lab/**/*.h' 'tests/ci/simulator/*.cpp' \
  ':!lab/bench/operators' ':!lab/published/src'

.PHONY: demo test lint format lock docs site picture bank clean

# What is installed is what is locked (`make lock`), on any day; --require-hashes fails where one is missing.
INSTALL := $(VENV)/bin/pip install --quiet --disable-pip-version-check
LOCK := bot/setup/requirements.lock
BUILD := .ci/build.lock
TOOLS := .ci/tools.lock

# Installs again only when the project's metadata or the lock changed; the install is editable.
$(VENV)/.installed: pyproject.toml $(LOCK) $(BUILD) .ci/bootstrap
	@.ci/bootstrap $(VENV)
	@$(INSTALL) --require-hashes -r $(LOCK) -r $(BUILD)
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# Tests and linters: all of the first lock and more. Most of it is never imported, so it is compiled when it is.
$(VENV)/.test: $(VENV)/.installed $(TOOLS)
	@$(INSTALL) --no-compile --require-hashes -r $(TOOLS)
	@touch $@

# Optimizes a shipped operator in a fresh sample repository and files the merge request locally.
demo: $(VENV)/.installed
	@$(PY) examples/demo.py --into $(DEMO)

# A file stays with one worker, so that what its tests share is made once.
test: $(VENV)/.test
	@$(PY) -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

lint: $(VENV)/.test
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports
	@$(PY) -m lab.prose
	@git ls-files $(CPP) | xargs $(VENV)/bin/clang-format --dry-run --Werror

# Pins what the project depends on, by digest, for each Python and processor: make, CI templates and container
# install that. What tests and linters need is pinned beside it, with the same versions of what is in both.
COMPILE := uv pip compile --quiet --universal --upgrade --generate-hashes --python-version 3.11 \
  --no-header --no-annotate
lock: $(VENV)/.test
	@$(VENV)/bin/$(COMPILE) pyproject.toml -o $(LOCK)
	@$(VENV)/bin/$(COMPILE) pyproject.toml --extra test --extra lint --extra docs -c $(LOCK) -o $(TOOLS)
	@$(VENV)/bin/$(COMPILE) --group build -c $(TOOLS) -o $(BUILD)
	@$(PY) .ci/pin_build
	@$(VENV)/bin/$(COMPILE) --group plan -c $(LOCK) -o bot/setup/plan.lock

# Lays out Python and C++ as `make lint` wants them.
format: $(VENV)/.test
	@$(VENV)/bin/ruff format .
	@git ls-files $(CPP) | xargs $(VENV)/bin/clang-format -i

# Writes the generated pages of docs/ anew (tests fail when they are stale).
docs: $(VENV)/.installed
	@$(PY) -m bot.cli.reference docs
	@$(PY) -m ascendopt.reference docs

# The documentation as a site in build/site; a broken link fails the build.
site: $(VENV)/.test
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet

# The README's picture: a screenshot of the demo's report (needs chromium).
picture: $(DEMO)/run/report.html
	@mkdir -p docs/images
	@chromium --headless --no-sandbox --hide-scrollbars --window-size=1120,1290 \
	  --screenshot=docs/images/report.png "file://$(CURDIR)/$<" 2>/dev/null
	@echo "wrote docs/images/report.png"

$(DEMO)/run/report.html:
	@$(MAKE) demo

# Earns the shipped experience anew (`make -j2 bank`: two operators at a time); goes on where it was interrupted
# (rm -rf build/bank begins anew). First every operator of our own is rewound, then kernels with
# three optimizations taken back are searched, whose wins and failures teach too.
BANK := build/bank/bank.duckdb
OWN  := $(wildcard tests/operators/src/*/*) $(wildcard examples/sample_repository/src/*/*)

bank: $(addprefix build/bank/done/,$(subst /,+,$(OWN)))
	@$(VENV)/bin/ascendopt bench ablation $(OWN) --arms kernel,kernel_no_bank --weaken 3 \
	  --budget 7 --learn --bank $(BANK) --out build/bank/runs
	@$(VENV)/bin/ascendopt bank export experience/shipped_tuples.jsonl --bank $(BANK)

$(BANK): $(VENV)/.installed
	@mkdir -p build/bank/done
	@$(PY) -c "from pathlib import Path; from experience.bank.bank import Bank; Bank(Path('$@')).stats()"

build/bank/done/%: | $(BANK)
	@echo "$(subst +,/,$*)"
	@$(VENV)/bin/ascendopt bank rewind "$(subst +,/,$*)" --budget $(REWIND_BUDGET) --steps 2 \
	  --bank $(BANK)
	@touch "$@"

clean:
	rm -rf $(VENV) $(DEMO)
