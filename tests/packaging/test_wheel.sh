#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel, installs it into a fresh environment outside the tree, and uses it there: the
# programs, pyACL, a C program built with the paths that `anynpu env` prints, and a model.
# Usage: PYTHON=python3 tests/packaging/test_wheel.sh [WHEEL]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wheel=${1:-}
if [ -z "$wheel" ]; then
  "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps -w "$work/dist" "$root"
  wheel=$(echo "$work"/dist/*.whl)
fi
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
cp -r "$root/tests/packaging/programs" "$work/programs"
[ -e "$root/examples/shapes/shapes.onnx" ] && cp "$root/examples/shapes/shapes.onnx" "$work/"
size=$(du -k "$wheel" | cut -f1)

cd "$work"
unset PYTHONPATH LD_LIBRARY_PATH ANYNPU_BUILD_DIR
export PATH="$work/venv/bin:/usr/local/bin:/usr/bin:/bin" PYTHONDONTWRITEBYTECODE=1
passed=0 failed=0
check() {  # check NAME COMMAND...: runs it, prints its output when it fails
  if "${@:2}" > out.txt 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)); echo "FAILED: $1"; sed 's/^/    /' out.txt
  fi
}
build_c() (  # a subshell: the variables stay inside
  eval "$(anynpu env)"
  cc -o c_program programs/copy.c -I"$DDK_PATH/runtime/include" -L"$NPU_HOST_LIB" -lascendcl
  ./c_program
)

load_names() (  # every other name of a library, bound at once
  eval "$(anynpu env)"
  tail -n +2 "$root/src/api/names.tsv" | while IFS=$'\t' read -r name _; do
    python -c "import ctypes; ctypes.CDLL('lib$name.so', mode=2)"
  done
)

build_hpe() {
  stc-clang++ --target=riscv32npu -O2 -c programs/hpe_copy.cc &&
  stc-ld.lld -flavor gnu hpe_copy.o /usr/local/hpe/riscv32npu/lib/libnpurt_hld.a -r -o hpe_copy-fatbin.o
}

check "import acl and copy" python programs/copy.py
check "anynpu run" anynpu run programs/copy.py
check "anynpu doctor" anynpu doctor
check "npu-smi info" npu-smi info
check "C program with -lascendcl" build_c
check "other names of libraries" load_names
check "stc-smi" stc-smi
check "compile an NPC kernel" build_hpe
check "run an NPC kernel" python programs/hpe_copy.py hpe_copy-fatbin.o
check "atc" atc --model=shapes.onnx --framework=5 --output=shapes \
  --input_shape=actual_input_1:1,3,224,224 --soc_version=Ascend310P3
check "run a model" python programs/model.py shapes.om
check "a JPEG there and back" python programs/picture.py
check "a single operator" python programs/operator_add.py
check "anynpu check passes a clean program" anynpu check programs/operator_add.py
check "anynpu check reports a leak" bash -c '! anynpu check programs/picture.py > report 2>&1 &&
  grep -q leak-media-memory report'
check "ais_bench" python -m ais_bench --model shapes.om --loop 3
check "ais_bench on two devices" python -m ais_bench --model shapes.om --device 0,1
check "metadata of aclruntime and ais_bench" python -c "
from importlib.metadata import version
assert version('aclruntime') == version('ais_bench') == '0.0.2'"
check "mindspore.profiler by the .pth file" python programs/mindspore_profile.py shapes.om
check "no mindspore with ANYNPU_NO_SHIM=1" bash -c '! ANYNPU_NO_SHIM=1 python -c "import mindspore"'
check "a real mindspore comes first" bash -c 'mkdir -p real/mindspore && touch real/mindspore/__init__.py &&
  PYTHONPATH=real python -c "import mindspore; assert \"real\" in mindspore.__file__"'
check "msprof" bash -c 'msprof --output=prof python programs/model.py shapes.om &&
  ls prof/PROF_*/mindstudio_profiler_output/op_summary_*.csv'
check "ais_bench with a dump" bash -c 'python -m ais_bench --model shapes.om --output dumped --dump 1 --dump_npy 1 &&
  find dumped/dump/*_npy -name "*.npy" | grep -q .'
check "msaccucmp" bash -c 'dump=$(find dumped -name "*.[0-9]*" -type f ! -name "*.npy" | head -1) &&
  msaccucmp convert -d "$dump" -out converted && ls converted/*.npy'
check "ais_bench under msprof" bash -c 'python -m ais_bench --model shapes.om --output profiled --profiler 1 &&
  ls profiled/profiler/PROF_*/mindstudio_profiler_output/op_summary_*_shapes_*.csv'
echo "wheel of $size KiB: $(basename "$wheel")"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
