# Everything a newcomer needs: `make demo`, `make test`. Both make .venv and install the project.
VENV := .venv
PY   := $(VENV)/bin/python
DEMO := demo
REWIND_BUDGET := 20
SHELL := /bin/bash

.PHONY: demo test lint docs picture bank clean

# Installs again only when the project's metadata changed; the install is editable.
$(VENV)/.installed: pyproject.toml .ci/bootstrap
	@.ci/bootstrap $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check -e '.[lint]'
	@touch $@

# Optimizes a shipped operator in a fresh sample repository and files the merge request locally.
demo: $(VENV)/.installed
	@$(PY) examples/demo.py --into $(DEMO)

test: $(VENV)/.test
	@$(PY) -m pytest -n 2 $(PYTEST_ARGS)

lint: $(VENV)/.lint
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

# Writes the generated pages of docs/ anew (tests fail when they are stale).
docs: $(VENV)/.installed
	@$(PY) -m bot.reference docs

# The README's picture: a screenshot of the demo's report (needs chromium).
picture: $(DEMO)/run/report.html
	@mkdir -p docs/images
	@chromium --headless --no-sandbox --hide-scrollbars --window-size=1120,1290 \
	  --screenshot=docs/images/report.png "file://$(CURDIR)/$<" 2>/dev/null
	@echo "wrote docs/images/report.png"

$(DEMO)/run/report.html:
	@$(MAKE) demo

# Earns the shipped experience anew: rewinds every operator of our own, about 5 minutes on 2 idle cores.
bank: $(VENV)/.installed
	@rm -rf build/bank && mkdir -p build/bank && rm -f experience/shipped_tuples.jsonl
	@for operator in tests/operators/src/*/*/ examples/sample_repository/src/*/*/; do \
	  echo "$$operator"; \
	  $(VENV)/bin/ascendopt bank rewind "$$operator" --budget $(REWIND_BUDGET) \
	    --bank build/bank/bank.duckdb || exit 1; \
	done
	@$(VENV)/bin/ascendopt bank export experience/shipped_tuples.jsonl --bank build/bank/bank.duckdb

clean:
	rm -rf $(VENV) $(DEMO)
