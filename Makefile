# Everything runs in .venv, made on first use; nothing outside this folder is touched.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
TORCH  := torch==2.13.0
# Where the machine's own package index has no CPU build of torch, name one that has:
#   make install TORCH_INDEX=https://…
TORCH_FROM := $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX),)

export HF_HUB_OFFLINE := 1
export ANONYMIZED_TELEMETRY := False
export TOKENIZERS_PARALLELISM := false
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: install run test check lint types bench faults lock clean

install: $(STAMP)

# torch first and exactly: left to the resolver it brings gigabytes of GPU libraries.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; name one with make PYTHON=python3.11")'
	@echo "[1/4] making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "[2/4] installing $(TORCH) (CPU build, about 200 MB)"
	@$(BIN)/pip install --quiet --no-compile $(TORCH_FROM) $(TORCH)
	@echo "[3/4] installing the locked packages (about 600 MB; a few minutes)"
	@$(BIN)/pip install --quiet --no-compile --no-deps --require-hashes -r requirements.lock
	@echo "[4/4] installing guideline-bot"
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(STAMP)
	@echo "done: $(BIN)/guideline-bot --help"

run: install
	@$(BIN)/guideline-bot --data .data sandbox

test: install
	$(BIN)/python -m pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

check: lint types test

bench: install
	$(BIN)/python -m tests.bench

# The long form of the fault runs: a kill and a freeze at every step, two hundred storms (a few minutes).
faults: install
	GUIDELINE_BOT_FAULTS=long $(BIN)/python -m pytest tests/test_faults.py tests/test_desk.py -n 2 -k "killed or freezes or storm or flood"

# Resolve again. torch and what only torch needs are left out: pip installs them first, see above.
lock: install
	$(BIN)/pip install --quiet uv
	printf "torch==2.13.0 ; sys_platform == 'never'\n" > $(VENV)/without-torch.txt
	$(BIN)/uv pip compile pyproject.toml --extra dev --generate-hashes --python-version 3.11 --universal \
	    --override $(VENV)/without-torch.txt --no-emit-package torch --no-emit-package sympy \
	    --no-emit-package mpmath --no-emit-package networkx --custom-compile-command "make lock" \
	    --quiet -o requirements.lock

clean:
	rm -rf .data build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
