#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian packages for ARM, with all that they need, into a folder: what a cross build includes and
# links, or a Python that runs under qemu. Nothing is installed on this machine, and no root is needed.
# Usage: tools/arm_root.sh FOLDER PACKAGE...
set -euo pipefail
folder=$(realpath -m "$1")
shift
[ -f "$folder/.complete" ] && [ "$(cat "$folder/.complete")" = "$*" ] && exit 0
apt=$folder.apt
rm -rf "$folder" "$apt"
mkdir -p "$folder" "$apt/state/lists/partial" "$apt/cache/archives/partial"
: > "$apt/status"
ask() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt/state" \
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o Debug::NoLocking=1 \
    -o APT::Sandbox::User="$(id -un)" "$@"
}
ask update
ask install --download-only --no-install-recommends -y "$@" > /dev/null
for package in "$apt"/cache/archives/*.deb; do
  case $(basename "$package") in
    libc6-dev_*|linux-libc-dev_*) ;;  # the cross compiler has its own
    *) dpkg-deb -x "$package" "$folder" ;;
  esac
done
rm -rf "$apt"
# Links that begin at the root of the file system lead out of the folder.
find "$folder" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$folder$(readlink "$link")")" "$link"
done
echo "$*" > "$folder/.complete"
