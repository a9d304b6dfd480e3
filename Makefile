PYTHON ?= python3
VENV ?= .venv
OUT ?= out
TORCH_INDEX ?=
# Results differ between one and two threads, so every target pins the count; manifests record it. Two processes of one
# thread use two cores better than one process of two.
export OMP_NUM_THREADS ?= 1
# Else each of many processes would compile the project for itself.
export PYTHONDONTWRITEBYTECODE =
PIP_INDEX = $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX),)
BIN = $(VENV)/bin
STAMP = $(VENV)/.stamp
REPORT = $(BIN)/python -m scripts report --from $(OUT)/verify.json --before $(OUT)/verify-before.json \
  --figures $(OUT) --training $(OUT)/train/kv-shift --construction $(OUT)/construct.json --out $(OUT)/report.html

.PHONY: all plan setup figure train construct verify experiments report docs test test-deep mutate lint bench clean

all: plan figure train construct verify report
	@echo
	@echo 'To open: $(OUT)/report.html (the trained model on the landscape, every claim), $(OUT)/fig_training.png,'
	@echo '  $(OUT)/fig_landscape.png (Figure 2) and $(OUT)/train/kv-shift/manifest.json (the trained model).'

plan:
	@echo 'make draws Figure 2 of the KV-shifting paper (seconds), trains a model of one layer (half a minute), draws its'
	@echo 'heads on the landscape (seconds), checks a construction (seconds) and the claims of the papers (1 to 2 minutes on'
	@echo '2 cores), and writes a report (seconds). It stops where a step fails; where a claim fails the report says so.'
	@echo 'Before the first run it sets up $(VENV), which takes some minutes more.'
	@echo

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check $(PIP_INDEX) -c constraints.txt \
	  -e '.[dev,hf]'
	# of this package one file is used, axe.min.js, so its own dependency, playwright (51 MB), stays away
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt axe-playwright-python
	# pip would compile on one core, and what nobody imports; what does not compile is for other versions of Python.
	-$(BIN)/python -m compileall -qq -j 0 -x '/tests?/|torch/testing/_internal' $(VENV)/lib theory dynamics proofs_check scripts
	touch $@

figure: setup
	$(BIN)/python -m scripts figure landscape --out $(OUT)/fig_landscape

train: setup
	$(BIN)/python -m scripts train --preset kv-shift --out $(OUT)/train --overwrite
	$(BIN)/python -m scripts figure training $(OUT)/train/kv-shift --out $(OUT)/fig_training

construct: setup
	$(BIN)/python -m scripts construct thm3.3 --json $(OUT)/construct.json

verify: setup
	@if [ -f $(OUT)/verify.json ]; then mv $(OUT)/verify.json $(OUT)/verify-before.json; fi
	$(BIN)/python -m scripts verify --quick --json $(OUT)/verify.json || { $(REPORT); exit 1; }

experiments: setup
	$(BIN)/python -m scripts sweep --preset figure-1a figure-1b --out $(OUT)/sweep

report: setup
	$(REPORT)

docs: setup
	$(BIN)/python -m scripts docs

test: setup lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not deep and not gpu'

test-deep: setup
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -n 2 --timeout 3600 -m 'not gpu'

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

mutate: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,hf,mutate]'
	$(BIN)/python -m benchmarks.mutate

bench: setup
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(OUT)
