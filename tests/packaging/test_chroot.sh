#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a wheel in a bare Debian (debootstrap: Python and numpy, nothing else) and uses it there
# as a user without rights, from another folder. Root is needed to make the bare system, not inside.
# A wheel for ARM is tried in a Debian for ARM, whose programs qemu runs (packages-arm-wheel.apt).
# Usage: test_chroot.sh WHEEL [SYSTEM [FOLDER]]   SYSTEM: bullseye, bookworm (default), trixie
#                                                 FOLDER: an existing bare system, kept
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
wheel=$(realpath "$1")
system=${2:-bookworm}
bare=${3:-}
packages=python3,python3-venv,python3-numpy
own=$(dpkg --print-architecture)
case $wheel in *_aarch64.whl) other=arm64 ;; *) other=amd64 ;; esac
[ $other != "$own" ] || other=
emulator=/usr/bin/qemu-aarch64-static

make_bare() {
  if [ -z "$other" ]; then
    debootstrap --variant=minbase --include=$packages "$system" "$bare" > "$bare.log"
  else  # unpacked and not configured: nothing of it runs here
    debootstrap --foreign --arch=$other --variant=minbase --include=$packages "$system" "$bare" \
      > "$bare.log" &&
    for package in "$bare"/var/cache/apt/archives/*.deb; do
      dpkg-deb --fsys-tarfile "$package" | tar -C "$bare" --keep-directory-symlink -xf - || return 1
    done
  fi
}

if [ -z "${IN_MOUNTS:-}" ]; then
  if [ -z "$bare" ]; then
    bare=$(mktemp -d)
    chmod 755 "$bare"
    trap 'rm -rf --one-file-system "$bare" "$bare.log"' EXIT
  fi
  [ -e "$bare/usr/bin/python3" ] || make_bare || { tail "$bare.log"; exit 1; }
  # Mounts of its own, which end with it: without /proc a program cannot know where it lies. Programs of
  # another machine are known to the emulator inside alone, which takes a user namespace.
  IN_MOUNTS=1 unshare -m ${other:+-U --map-root-user} "$BASH" "$0" "$wheel" "$system" "$bare"
  exit
fi
if [ -n "$other" ]; then
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  zeros='\x00\x00\x00\x00\x00\x00\x00\x00'
  printf '%s' ":aarch64:M::\x7fELF\x02\x01\x01\x00$zeros\x02\x00\xb7\x00:" \
    '\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' ":$emulator:F" \
    > /proc/sys/fs/binfmt_misc/register
  mount --rbind /proc "$bare/proc"
  as_user=
else
  mount -t proc proc "$bare/proc"
  as_user=--userspec=65534:65534
fi
work=$bare/tmp/anynpu
rm -rf "$work" && mkdir -p "$work/home"
cp "$wheel" "$work/"
cp -r "$root/tests/packaging/programs" "$work/programs"
cp "$root/examples/shapes/shapes.onnx" "$work/"
[ -z "$as_user" ] || chown -R 65534:65534 "$work"

# Where numpy's libraries lie in a system that was not configured.
libraries=/usr/lib/aarch64-linux-gnu/blas:/usr/lib/aarch64-linux-gnu/lapack
inside() {  # as nobody, with nothing of this machine's environment
  chroot $as_user "$bare" /usr/bin/env -i HOME=/tmp/anynpu/home PYTHONDONTWRITEBYTECODE=1 \
    ${other:+LD_LIBRARY_PATH=$libraries} PATH=/tmp/anynpu/venv/bin:/usr/bin:/bin LANG=C.UTF-8 \
    bash -c "cd /tmp/anynpu/home && $1"
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
echo "$passed passed, $failed failed in a bare Debian $system with $(inside "python3 --version"), without root${other:+, $other under qemu}"
[ "$failed" = 0 ]
