# Every target prepares its own virtual environment from pinned versions; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= auto
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable
BROWSER = $(or $(MIXSEARCH_CHROMIUM),$(firstword $(foreach name,$(BROWSERS),$(shell command -v $(name) 2> /dev/null))))

.PHONY: demo serve test quick check browser bench peers pictures wheel lock clean

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@# Once for all: where Python is told to write no bytecode, every process would compile all packages anew.
	-$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib
	touch $(READY)

demo: $(READY)  ## topics in the docstrings on this machine, one Gaussian, two pictures
	$(BIN)/mixsearch demo

serve: $(READY)  ## the page, with the docstrings on this machine
	$(BIN)/mixsearch serve --demo

check: $(READY)  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

browser:  ## Chromium, for the tests of the page: root of a Debian gets it, others are told how
ifeq ($(BROWSER),)
	@if test "$$(id -u)" = 0 && command -v apt-get > /dev/null; then \
		echo "Installing Chromium, for the tests of the page"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
			chromium fonts-dejavu-core; } > /dev/null 2>&1 && exit; \
	fi; \
	echo "No Chromium: install the package chromium, or name a browser in MIXSEARCH_CHROMIUM"
endif

test: check browser  ## everything that must hold
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

quick: $(READY)  ## all tests but the slow ones: under a minute on two cores
	@# Compiled tests are kept even where Python is told to write no bytecode: compiling takes longer than many a test.
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "not slow"

bench: $(READY)  ## time and accuracy beside the peers, on the same data
	$(BIN)/python benchmarks/run.py

peers: $(READY)  ## topics beside other packages, which are installed here; an hour, and only with MIXSEARCH_DATA
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/peers.txt
	$(BIN)/python benchmarks/run.py quality

pictures: $(READY) browser  ## every picture in the README and the guides
	$(BIN)/mixsearch demo --output docs/pictures
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/screenshots.py

wheel: $(READY)  ## dist/mixsearch-*.whl
	$(BIN)/python -m build --wheel --no-isolation

lock: $(READY)  ## renew the pinned versions
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --python-version 3.11 --universal --extra dev --no-emit-index-url --no-emit-find-links \
		--no-annotate --no-header --upgrade pyproject.toml --output-file requirements/dev.txt

clean:
	rm -rf $(VENV) dist build mixsearch-demo
