# SPDX-License-Identifier: Apache-2.0
# `make help` lists the targets. Each one installs what it needs (Debian packages from packages.apt, for
# tests also packages-tests.apt; pinned Python packages into .venv), builds and runs; nothing else has to
# be set up by hand.
SHELL := /bin/bash
PYTHON ?= python3
BUILD ?= build
JOBS ?= $(shell nproc)
VENV := .venv
PY := $(abspath $(VENV)/bin/python)
ROOT_PREFIX := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
GLIBC =
CONFIGURE = cmake -S . -G Ninja -DPython_EXECUTABLE=$(PY) -DANYNPU_GLIBC=$(GLIBC)

# dpkg-query is quick: apt runs only when a package of the list is missing.
define install_packages
	@missing=$$(for p in $$(grep -hv '^#' $(1)); do \
	  dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then echo "installing:" $$missing; \
	  $(ROOT_PREFIX) apt-get update -qq && \
	  $(ROOT_PREFIX) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
	    --no-install-recommends $$missing > /dev/null; fi
endef

.PHONY: help deps configure build fuzzers product demo test bench soak fuzz lint asan tsan test-arm test-clients gpu-test test-frameworks docs doc-pages wheel wheel-test wheel-chroot-test wheel-arm wheel-arm-test clean test-torch torch-score bench-torch test-mindspore mindspore-score bench-mindspore
.DEFAULT_GOAL := help

help:  ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: $(VENV)/.installed  ## install packages.apt and requirements.txt (into .venv): what the product needs

$(VENV)/.installed: packages.apt requirements.txt
	$(call install_packages,packages.apt)
	@[ -x $(PY) ] || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

# What only tests need: GoogleTest, a browser, an emulator, engines to compare with.
$(VENV)/.tests-installed: $(VENV)/.installed packages-tests.apt requirements-tests.txt requirements-ray.txt
	$(call install_packages,packages-tests.apt)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-tests.txt
	@touch $@

configure: deps
	@$(CONFIGURE) -B $(BUILD) > $(BUILD).log 2>&1 || (cat $(BUILD).log; exit 1)

build: $(VENV)/.tests-installed configure  ## compile everything but the fuzzers into build/
	cmake --build $(BUILD) -j $(JOBS)

fuzzers: $(VENV)/.tests-installed configure
	cmake --build $(BUILD) -j $(JOBS) --target all fuzzers

product: configure  ## compile what users need, without the tests
	cmake --build $(BUILD) -j $(JOBS) --target product

demo: product  ## classify drawn shapes with the guide's quick start, then time ResNet-50
	@$(PY) examples/demo.py --build $(BUILD)

test: fuzzers  ## all tests, C++ and Python; ends with 'N passed, N failed'
	@$(PY) tests/run_all.py --build $(BUILD) $(TEST_ARGS)

bench: build  ## print the table of times
	@$(PY) bench/run.py --build $(BUILD) --json $(BUILD)/bench.json $(BENCH_ARGS)

soak: build  ## profile 50,000 events a second for ten minutes (SOAK_SECONDS=600)
	@ANYNPU_BUILD_DIR=$(BUILD) ANYNPU_SOAK_SECONDS=$(or $(SOAK_SECONDS),600) $(PY) -m pytest -q \
	  tests/python/profiling/test_prof_files.py -k nothing_is_lost --timeout 1200

fuzz: fuzzers  ## hostile models, programs and media (FUZZ_SECONDS=60 a format), RISC-V, profiles, graphs (FUZZ_ROUNDS=100)
	@for format in aclnn aipp air caffe config elf jpeg mindir om onnx png singleop tensorflow vendor_om video; do \
	  ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0 $(BUILD)/tests/fuzz/fuzz_$$format \
	    -max_total_time=$(or $(FUZZ_SECONDS),60) -timeout=20 -rss_limit_mb=2500 -max_len=8192 -print_funcs=0 \
	    $(BUILD)/tests/fuzz/found_$$format tests/fuzz/corpus/$$format || exit 1; done
	@$(BUILD)/src/npc_test --gtest_filter='*StreamTest.*:QemuTest.*:InstructionClasses.*:ModuleTest.flipped_*' --gtest_shuffle \
	  --gtest_repeat=$(or $(FUZZ_ROUNDS),100) --gtest_throw_on_failure=0 --gtest_brief=1
	@ANYNPU_BUILD_DIR=$(BUILD) ANYNPU_FUZZ_ROUNDS=$(or $(FUZZ_ROUNDS),100)0 \
	  $(PY) -m pytest -q tests/python/profiling/test_msprof.py -k random_bytes --timeout 1200
	@ANYNPU_BUILD_DIR=$(BUILD) ANYNPU_FUZZ_ROUNDS=$(or $(FUZZ_ROUNDS),100) \
	  $(PY) -m pytest -q tests/python/profiling/test_prof_damage.py --timeout 1200
	@ANYNPU_BUILD_DIR=$(BUILD) ANYNPU_FUZZ_ROUNDS=$(or $(FUZZ_ROUNDS),100)00 \
	  $(PY) -m pytest -q tests/python/check/test_dump_files.py --timeout 1200
	@ANYNPU_BUILD_DIR=$(BUILD) ANYNPU_FUZZ_ROUNDS=$(or $(FUZZ_ROUNDS),100)0 \
	  $(PY) -m pytest -q tests/python/models/test_random_graphs.py

lint: $(VENV)/.tests-installed  ## clang-format, clang-tidy (changed files; LINT_ARGS=--all for all), ruff
	$(call install_packages,packages-lint.apt)
	@$(PY) tools/lint.py $(LINT_ARGS)

# Without detect_stack_use_after_return: GCC 12 then places 64-byte vectors at 32-byte addresses.
# Without intercept_tls_get_addr: GCC 12 takes a thread's block of variables that begins 16 bytes
# into a page for one of an old glibc, believes the 16 bytes before it, and the leak check at the
# end reads from an address such as 0x930.
asan: $(VENV)/.tests-installed  ## C++ tests under the address and undefined-behaviour sanitizers
	@$(CONFIGURE) -B build-asan -DANYNPU_BENCH=OFF -DANYNPU_PCH=ON "-DANYNPU_SANITIZE=address;undefined" > build-asan.log
	cmake --build build-asan -j $(JOBS)
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1:intercept_tls_get_addr=0 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/tests/leaks_of_others.txt:print_suppressions=0 $(PY) tests/run_all.py --build build-asan --only cpp --timeout 300 $(TEST_ARGS)

tsan: $(VENV)/.tests-installed  ## C++ tests under the thread sanitizer
	@$(CONFIGURE) -B build-tsan -DANYNPU_BENCH=OFF -DANYNPU_PCH=ON -DANYNPU_SANITIZE=thread > build-tsan.log
	cmake --build build-tsan -j $(JOBS)
	@TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
	  $(PY) tests/run_all.py --build build-tsan --only cpp --timeout 300 $(TEST_ARGS)

# Ascend's own hosts are ARM. Python, tools and codecs are left out; every C++ test runs that does
# not need them.
test-arm: $(VENV)/.tests-installed  ## C++ tests compiled for ARM (aarch64), under qemu
	@dpkg --print-foreign-architectures | grep -qx arm64 || $(ROOT_PREFIX) dpkg --add-architecture arm64
	$(call install_packages,packages-arm.apt)
	@$(CONFIGURE) -B build-arm -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/aarch64-linux.cmake \
	  -DANYNPU_PYTHON=OFF -DANYNPU_TRANSLATOR=OFF -DANYNPU_PCH=ON > build-arm.log 2>&1 || (cat build-arm.log; exit 1)
	cmake --build build-arm -j $(JOBS)
	@$(PY) tests/run_all.py --build build-arm --only cpp --timeout 300 $(TEST_ARGS)

# Published packages in an environment of their own: they bring another onnxruntime.
.venv-clients/.installed: requirements-clients.txt
	@[ -x .venv-clients/bin/python ] || $(PYTHON) -m venv .venv-clients
	.venv-clients/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-clients.txt
	@touch $@

test-clients: product .venv-clients/.installed  ## onnxruntime-cann and RapidOCR, as published, on AnyNPU
	@. $(BUILD)/ascend/set_env.sh && .venv-clients/bin/python -m pytest -q --timeout 600 tests/clients

.venv-mindspore/.installed: requirements-mindspore.txt
	@[ -x .venv-mindspore/bin/python ] || $(PYTHON) -m venv .venv-mindspore
	.venv-mindspore/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-mindspore.txt
	@touch $@

# TensorFlow brings another numpy. The networks run in its process, with the variables a user has.
.venv-tensorflow/.installed: requirements-tensorflow.txt
	@[ -x .venv-tensorflow/bin/python ] || $(PYTHON) -m venv .venv-tensorflow
	.venv-tensorflow/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-tensorflow.txt
	@touch $@

test-frameworks: product .venv-tensorflow/.installed .venv-mindspore/.installed  ## operators and networks against TensorFlow and MindSpore themselves
	@cmake --build $(BUILD) -j $(JOBS) --target compile_model_for_test
	@. $(BUILD)/ascend/set_env.sh && ANYNPU_BUILD_DIR=$(abspath $(BUILD)) \
	  .venv-tensorflow/bin/python -m pytest -q --timeout 900 tests/frameworks --ignore tests/frameworks/mindspore \
	    $(TEST_ARGS)
	@. $(BUILD)/ascend/set_env.sh && ANYNPU_BUILD_DIR=$(abspath $(BUILD)) \
	  .venv-mindspore/bin/python -m pytest -q --timeout 900 tests/frameworks/mindspore $(TEST_ARGS)

# torch_npu as published, in an environment of its own. Without dependencies, so that pip does not
# fetch several GB of CUDA packages which nothing here calls; tests/torch/rig/build.py has the rest.
.venv-torch/.installed: requirements-torch.txt tests/torch/rig/build.py tests/torch/rig/separate_keys.cpp tests/torch/rig/start.py
	@[ -x .venv-torch/bin/python ] || $(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-torch.txt
	@$(PYTHON) tests/torch/rig/build.py .venv-torch
	@touch $@

TORCH_RUN = . $(BUILD)/ascend/set_env.sh && ANYNPU_SOC=Ascend910B2 .venv-torch/bin/python

test-torch: product .venv-torch/.installed  ## PyTorch with torch_npu, as published, on AnyNPU (TORCH_ARGS="-k devices")
	@$(TORCH_RUN) -m pytest -q --timeout 900 tests/torch $(TORCH_ARGS)

torch-score: product .venv-torch/.installed  ## PyTorch's own operator tests, all samples; writes docs/torch_score.md
	@$(TORCH_RUN) tests/torch/op_db/score.py --build $(BUILD) --docs $(TORCH_ARGS)

bench-torch: product .venv-torch/.installed  ## torch_npu on AnyNPU beside torch's CPU back end
	@$(TORCH_RUN) bench/torch/compare.py $(TORCH_ARGS)

MINDSPORE_RUN = . $(BUILD)/ascend/set_env.sh && ANYNPU_SOC=Ascend910B2 .venv-mindspore/bin/python

test-mindspore: product .venv-mindspore/.installed  ## MindSpore, as published, on AnyNPU (MINDSPORE_ARGS="-k devices")
	@$(MINDSPORE_RUN) -m pytest -q --timeout 7500 tests/mindspore $(MINDSPORE_ARGS)

mindspore-score: product .venv-mindspore/.installed  ## every function of mint and ops beside the CPU back end; writes docs/mindspore_score.md
	@$(MINDSPORE_RUN) tests/mindspore/sweep.py run $(BUILD)/mindspore_score.json
	@$(MINDSPORE_RUN) tests/mindspore/sweep.py page $(BUILD)/mindspore_score.json docs/mindspore_score.md

bench-mindspore: product .venv-mindspore/.installed  ## MindSpore on AnyNPU beside its CPU back end
	@$(MINDSPORE_RUN) bench/mindspore/compare.py $(MINDSPORE_ARGS)

gpu-test: build  ## on a machine with an NVIDIA GPU: the conformance suite and networks; writes docs/gpu.md
	@$(PY) tests/gpu/run.py --build $(BUILD)

.venv-docs/.installed: requirements-docs.txt
	@[ -x .venv-docs/bin/python ] || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $@

docs: .venv-docs/.installed  ## build the documentation as a site: build/site/index.html
	@.venv-docs/bin/python tools/site build --out $(BUILD)/site
	@echo "open $(BUILD)/site/index.html"

doc-pages: build  ## regenerate the generated pages of docs/ (figures: after make bench)
	@$(PY) tools/gen_environment_docs.py
	@$(PY) tools/draw_modules.py
	@$(PY) tests/gpu/run.py --docs
	@$(PY) tools/gen_atc_docs.py
	@$(PY) tools/gen_check_bugs_docs.py
	@$(PY) tools/gen_pyacl docs
	@$(PY) tools/gen_aclnn docs
	@$(BUILD)/tools/benchop/benchop support > docs/ops.md
	@$(BUILD)/tools/benchop/benchop names > docs/operator_names.md
	@$(PY) tools/gen_guide_blocks.py
	@$(PY) tools/site pages
	@ANYNPU_BUILD_DIR=$(BUILD) $(PY) tools/gen_ais_bench_docs.py
	@$(PY) tests/python/onnx_backend/suite.py --build $(BUILD) --docs
	@$(PY) tests/python/tensorflow_cases/tf_suite.py --build $(BUILD) --docs
	@[ ! -f $(BUILD)/bench.json ] || $(PY) bench/make_docs.py $(BUILD)/bench.json docs

# Linked for glibc 2.28 (cmake/old_glibc.cmake), with Python's stable ABI: one wheel for Python 3.9 and later.
# The objects of build/ are linked once more; `make build` links them for this machine again.
wheel: GLIBC = 2.28
wheel: product  ## build dist/anynpu-*.whl for Python 3.9 and later, manylinux_2_28
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-wheel.txt
	@PATH=$(abspath $(VENV)/bin):$$PATH $(PY) tools/make_wheel.py --build $(BUILD) --glibc $(GLIBC) --out dist

wheel-test: deps  ## install the wheel into a fresh environment and run a program there
	@PYTHON=$(PY) bash tests/packaging/test_wheel.sh

WHEEL_SYSTEMS ?= bullseye bookworm trixie
try_in = for system in $(WHEEL_SYSTEMS); do \
  $(ROOT_PREFIX) bash tests/packaging/test_chroot.sh "$$(ls -t $(1) | head -1)" $$system || exit 1; done
wheel-chroot-test: wheel  ## install the wheel in a bare Debian 11, 12 and 13 (Python 3.9, 3.11, 3.13), without root
	@command -v debootstrap > /dev/null || $(ROOT_PREFIX) apt-get install -y -qq debootstrap > /dev/null
	@$(call try_in,dist/*manylinux*x86_64.whl)

# Python modules, tools and codecs too; kernels of NPCs are interpreted there (no translator).
ARM_ROOT = $(abspath build-wheel-arm-root)
wheel-arm: GLIBC = 2.28
wheel-arm: deps  ## build dist/anynpu-*aarch64.whl, cross-compiled, manylinux_2_28
	$(call install_packages,packages-arm-wheel.apt)
	@tools/arm_root.sh $(ARM_ROOT) $$(sed -n 's/^#+ //p' packages-arm-wheel.apt)
	@$(CONFIGURE) -B build-wheel-arm -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/aarch64-linux.cmake \
	  -DANYNPU_ARM_ROOT=$(ARM_ROOT) -DANYNPU_TRANSLATOR=OFF -DANYNPU_TESTS=OFF -DANYNPU_BENCH=OFF \
	  > build-wheel-arm.log 2>&1 || (cat build-wheel-arm.log; exit 1)
	cmake --build build-wheel-arm -j $(JOBS) --target product
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-wheel.txt
	@PATH=$(abspath $(VENV)/bin):$$PATH $(PY) tools/make_wheel.py --build build-wheel-arm --glibc $(GLIBC) \
	  --machine aarch64 --root $(ARM_ROOT) --out dist

wheel-arm-test: wheel-arm  ## install it in a bare Debian for ARM, run by qemu (WHEEL_SYSTEMS="bookworm")
	@$(call try_in,dist/*manylinux*aarch64.whl)

clean:  ## remove build folders, not .venv
	rm -rf $(BUILD) build-* dist *.log
