#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a wheel in a bare Debian (debootstrap: Python and numpy, nothing else) and uses it there
# as a user without rights, from another folder. Root is needed to make the bare system, not inside.
# Usage: test_chroot.sh WHEEL [SYSTEM [FOLDER]]   SYSTEM: bullseye, bookworm (default), trixie
#                                                 FOLDER: an existing bare system, kept
set -euo pipefail
# Mounts of its own, which end with it: without /proc a program cannot know where it lies.
[ -n "${IN_MOUNTS:-}" ] || IN_MOUNTS=1 exec unshare -m "$BASH" "$0" "$@"
root=$(cd "$(dirname "$0")/../.." && pwd)
wheel=$(realpath "$1")
system=${2:-bookworm}
bare=${3:-}
if [ -z "$bare" ]; then
  bare=$(mktemp -d)
  trap 'umount "$bare/proc" || true; rm -rf --one-file-system "$bare"' EXIT
fi
if [ ! -e "$bare/usr/bin/python3" ]; then
  debootstrap --variant=minbase --include=python3,python3-venv,python3-numpy "$system" "$bare" \
    > "$bare.log" || { tail "$bare.log"; exit 1; }
fi
mount -t proc proc "$bare/proc"
work=$bare/tmp/anynpu
rm -rf "$work" && mkdir -p "$work/home"
cp "$wheel" "$work/"
cp -r "$root/tests/packaging/programs" "$work/programs"
cp "$root/examples/shapes/shapes.onnx" "$work/"
chown -R 65534:65534 "$work"

inside() {  # as nobody, with nothing of this machine's environment
  chroot --userspec=65534:65534 "$bare" /usr/bin/env -i HOME=/tmp/anynpu/home PYTHONDONTWRITEBYTECODE=1 \
    PATH=/tmp/anynpu/venv/bin:/usr/bin:/bin LANG=C.UTF-8 bash -c "cd /tmp/anynpu/home && $1"
}
passed=0 failed=0
check() {  # check NAME COMMAND
  if inside "$2" > "$bare/tmp/out.txt" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)); echo "FAILED: $1"; tail -15 "$bare/tmp/out.txt" | sed 's/^/    /'
  fi
}
check "venv" "python3 -m venv --system-site-packages /tmp/anynpu/venv"
check "pip install" "pip install --no-index --no-deps -q /tmp/anynpu/*.whl"
check "import acl and copy" "python ../programs/copy.py"
check "anynpu run" "anynpu run ../programs/copy.py"
check "anynpu doctor says ready" "anynpu doctor | tee d.txt; grep -q '^ready' d.txt"
check "anynpu doctor says how to get video" "grep -q 'H.264 and H.265 .*libavcodec59\|H.264 and H.265 .*libswscale6' d.txt"
check "anynpu doctor says how to get HPE's compiler" "grep -q 'pip install \"ziglang\"' d.txt"
check "npu-smi info" "npu-smi info"
check "atc" "atc --model=../shapes.onnx --framework=5 --output=shapes \
  --input_shape=actual_input_1:1,3,224,224 --soc_version=Ascend310P3"
check "run a model" "python ../programs/model.py shapes.om"
check "a JPEG there and back" "python ../programs/picture.py"
check "a single operator" "python ../programs/operator_add.py"
check "anynpu check" "anynpu check ../programs/operator_add.py"
check "ais_bench" "python -m ais_bench --model shapes.om --loop 3"
check "msprof" "msprof --output=prof python ../programs/model.py shapes.om && ls prof/PROF_*/mindstudio_profiler_output"
check "versions" "atc --version && anynpu --version && msprof --version"
echo "$passed passed, $failed failed in a bare Debian $system with $(inside "python3 --version"), without root"
[ "$failed" = 0 ]
