# Every target prepares its own virtual environment from pinned versions; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE_READY := node_modules/.ready
NPM := $(BIN)/python tools/npm.py
PAGE := src/mixsearch/web/static/page.js
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
LOWEST := .venv-lowest
OTHER_PYTHONS ?= 3.12 3.13 3.14
# Everything for every platform, from the registry's files as they are today: hashes tell later changes.
COMPILE := $(BIN)/uv pip compile --quiet --python-version 3.11 --universal --generate-hashes --upgrade \
	--no-strip-extras --no-emit-index-url --no-emit-find-links --no-annotate --no-header
WORKERS ?= auto
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable
BROWSER = $(or $(MIXSEARCH_CHROMIUM),$(firstword $(foreach name,$(BROWSERS),$(shell command -v $(name) 2> /dev/null))))

.PHONY: demo serve page test quick check spelling javascript browser coverage docs sentences lowest pythons bench paper paper-quick peers pictures \
	wheel dist lock clean

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements/dev.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@# Once for all: where Python is told to write no bytecode, every process would compile all packages anew.
	-$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib
	touch $(READY)

$(NODE_READY): package-lock.json | $(READY)
	$(NPM) ci --silent
	touch $(NODE_READY)

$(PAGE): $(NODE_READY) package.json $(wildcard src/mixsearch/web/page/*)
	$(NPM) run --silent build

page: $(PAGE)  ## the pages, from TypeScript; by the Node.js of the system, or else of a Python package

demo: $(READY)  ## topics in the docstrings on this machine, rows of a table, a segment of a photo
	$(BIN)/mixsearch demo

serve: $(READY) page  ## the page, with the docstrings on this machine
	$(BIN)/mixsearch serve --demo

check: $(READY) spelling javascript  ## style, types, layers, spelling, sizes; types as Windows sees them too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@# A cache of its own: in a shared one, each of the two runs would throw away what the other left.
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/lint-imports
	$(BIN)/python tools/budget.py

spelling: $(READY)
	$(BIN)/codespell

javascript: $(NODE_READY)  ## style and types of the page
	$(NPM) run --silent check

browser:  ## Chromium, for the tests of the page: root of a Debian gets it, others are told how
ifeq ($(BROWSER),)
	@if test "$$(id -u)" = 0 && command -v apt-get > /dev/null; then \
		echo "Installing Chromium, for the tests of the page"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
			chromium fonts-dejavu-core; } > /dev/null 2>&1 && exit; \
	fi; \
	echo "No Chromium: install the package chromium, or name a browser in MIXSEARCH_CHROMIUM"
endif

test: check page browser  ## everything that must hold
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

quick: $(READY) page  ## all tests but the slow ones: at most 90 seconds on two cores
	@# Compiled tests are kept even where Python is told to write no bytecode: compiling takes longer than many a test.
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "not slow"

coverage: $(READY) page browser  ## the tests, and the lines that none of them runs: at least 90% must be run
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup --cov=mixsearch --cov-report=term:skip-covered --cov-fail-under=90

docs: $(READY) page  ## the documentation site, with all examples run: build/docs/index.html; about two minutes on two cores
	@# From nothing: pages of names that are gone would stay otherwise.
	rm -rf docs/generated build/docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --builder html docs build/docs
	@echo "Open build/docs/index.html"

sentences: $(READY)  ## the golden file of all sentences of errors and warnings
	$(BIN)/python -c "from docs.reference_pages.errors import make_error_page; print(make_error_page(), end='')" > tests/project/sentences.md

lowest: $(READY) page  ## the quick tests with the lowest versions that pyproject.toml allows
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct --editable '.[dev]'
	@# Old packages meet newer ones that they did not know: what these deprecate is not ours to change.
	$(LOWEST)/bin/pytest -n $(WORKERS) --dist loadgroup -m "not slow" -W ignore::DeprecationWarning

pythons: $(OTHER_PYTHONS:%=python-%)  ## the quick tests on other versions of Python, found here or by uv

python-%: $(READY) page
	@# pyenv shows only the version that it is told to use.
	@PYENV_VERSION=$* $(BIN)/uv venv --quiet --clear --python $* .venv-$* \
		|| { echo "Python $*: found neither here nor by uv, and left out."; exit 0; }; \
	set -e; \
	$(BIN)/uv pip sync --quiet --python .venv-$* --require-hashes requirements/dev.txt; \
	$(BIN)/uv pip install --quiet --python .venv-$* --no-deps --no-build-isolation --editable .; \
	.venv-$*/bin/python --version; \
	.venv-$*/bin/pytest -n $(WORKERS) --dist loadgroup -m "not slow"

bench: $(READY) page  ## time and accuracy beside the peers, on the same data
	$(BIN)/python benchmarks/run.py

paper: $(READY)  ## every figure and table of the paper, with baselines
	$(BIN)/python -m paper_experiments

paper-quick: $(READY) page  ## the same with small samples: some minutes
	$(BIN)/python -m paper_experiments --quick

peers: $(READY)  ## topics beside other packages, which are installed here; an hour, and only with MIXSEARCH_DATA
	$(PIP) install --require-hashes -r requirements/peers.txt
	$(BIN)/python benchmarks/run.py quality

pictures: $(READY) page browser  ## every picture in the README and the guides
	$(BIN)/python -m docs.pictures
	$(BIN)/python -m docs.screenshots

wheel: $(READY) page  ## dist/mixsearch-*.whl
	$(BIN)/python -m build --wheel --no-isolation

dist: $(READY) page  ## dist/*.whl and dist/*.tar.gz, checked as the package index would
	$(BIN)/python -m build --no-isolation
	$(PIP) install --require-hashes -r requirements/release.txt
	$(BIN)/python -m twine check --strict dist/*

lock: $(READY)  ## renew the pinned versions; releases of the last two weeks are left out
	$(COMPILE) --extra dev pyproject.toml --output-file requirements/dev.txt
	$(COMPILE) --group peers --constraint requirements/dev.txt --output-file requirements/peers.txt
	$(COMPILE) --group release --constraint requirements/dev.txt --output-file requirements/release.txt
	@if command -v npm > /dev/null; then npm update --silent --package-lock-only; \
		else echo "No npm here: package-lock.json stays as it is."; fi

clean:
	rm -rf $(VENV) $(VENV)-* node_modules src/mixsearch/web/static/*.js src/mixsearch/web/static/*.css dist build docs/generated mixsearch-demo
