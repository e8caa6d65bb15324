# SPDX-License-Identifier: Apache-2.0
# make demo | test | bench | lint | asan | tsan | docs | wheel | clean
# Each target installs what it needs (apt list + pinned requirements into .venv), builds and runs.
SHELL := /bin/bash
PYTHON ?= python3
BUILD ?= build
JOBS ?= $(shell nproc)
VENV := .venv
PY := $(VENV)/bin/python
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)

.PHONY: demo test bench lint asan tsan docs wheel clean build deps

deps: $(VENV)/.installed

# dpkg-query is quick: apt runs only when a package of the list is missing.
$(VENV)/.installed: packages.apt requirements.txt
	@missing=$$(for p in $$(grep -v '^#' packages.apt); do \
	  dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then echo "installing: $$missing"; \
	  $(SUDO) apt-get update -qq && DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq $$missing >/dev/null; fi
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

build: deps
	cmake -S . -B $(BUILD) -G Ninja -DPython_EXECUTABLE=$(abspath $(PY)) > $(BUILD).log 2>&1 || (cat $(BUILD).log; exit 1)
	cmake --build $(BUILD) -j $(JOBS)

test: build
	$(PY) tests/run_all.py --build $(BUILD)

clean:
	rm -rf $(BUILD) build-* *.log
