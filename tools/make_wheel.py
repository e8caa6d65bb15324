#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a build into a wheel: nothing is compiled again.

    tools/make_wheel.py --build build --out dist [--glibc 2.28] [--machine aarch64 --root FOLDER]

The wheel holds what `cmake --install --component wheel` installs, stripped. Its extension modules
use Python's stable ABI, so it is for Python 3.9 and all later ones. auditwheel then finds which
manylinux tag is true, which must be that of --glibc or an older one, adds the library that pictures
need (libjpeg) and refuses everything else that is not allowed; codecs of video and the network
library stay the system's. With --machine the build is one for another machine, whose libraries lie
in the folder --root (tools/arm_root.sh).
"""
import argparse
import base64
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Opened by plug-ins on first use, from the system: licences (codecs) and machines (networks)
# differ.
FROM_THE_SYSTEM = ("libavcodec.so.*", "libavutil.so.*", "libswscale.so.*", "libucp.so.*",
                   "libucs.so.*", "libuct.so.*", "libucm.so.*")
PYTHONS = "cp39-abi3"
MOST_BYTES = 30 * 1000 * 1000


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r"project\(AnyNPU VERSION ([\d.]+)", read("CMakeLists.txt"))[1]


def table(text, name):
    """The body of a table of pyproject.toml; Python 3.9 has no tomllib."""
    found = re.search(rf"^\[{re.escape(name)}\]\n(.*?)(?=^\[|\Z)", text, re.M | re.S)
    return re.findall(r'^"?([^"=\s]+)"?\s*=\s*(.+)$', found[1], re.M) if found else []


def metadata():
    text = read("pyproject.toml")
    project = dict(table(text, "project"))
    lines = ["Metadata-Version: 2.1", "Name: anynpu", f"Version: {version()}",
             f"Summary: {project['description'].strip(chr(34))}", "License: Apache-2.0",
             f"Requires-Python: {project['requires-python'].strip(chr(34))}"]
    needs = re.findall(r'"([^"]+)"', project["dependencies"])
    lines += [f"Requires-Dist: {need}" for need in needs]
    for extra, needs in table(text, "project.optional-dependencies"):
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need}; extra == "{extra}"'
                  for need in re.findall(r'"([^"]+)"', needs)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", read("README.md")])


def entry_points():
    rows = table(read("pyproject.toml"), "project.scripts")
    return "[console_scripts]\n" + "".join(f"{name} = {value.strip(chr(34))}\n"
                                           for name, value in rows)


def staged(build, folder):
    """The files of the wheel."""
    subprocess.run(["cmake", "--install", build, "--component", "wheel", "--strip", "--prefix",
                    folder], check=True, stdout=subprocess.DEVNULL)


def add_sources(folder):
    """Python files that the build links to."""
    for source in glob.glob(os.path.join(ROOT, "python", "anynpu", "**", "*"), recursive=True):
        name = os.path.relpath(source, os.path.join(ROOT, "python"))
        if os.path.isfile(source) and not name.endswith((".in", ".txt", ".pyc")):
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            shutil.copy(source, os.path.join(folder, name))


def pack(folder, tag, out):
    """Writes the .whl with its list of files; the path."""
    info = f"anynpu-{version()}.dist-info"
    os.makedirs(os.path.join(folder, info))
    for name, text in (("METADATA", metadata()), ("entry_points.txt", entry_points()),
                       ("LICENSE", read("LICENSE")),
                       ("WHEEL", f"Wheel-Version: 1.0\nGenerator: anynpu\nRoot-Is-Purelib: false\n"
                                 f"Tag: {PYTHONS}-{tag}\n")):
        with open(os.path.join(folder, info, name), "w", encoding="utf-8") as file:
            file.write(text)
    path = os.path.join(out, f"anynpu-{version()}-{PYTHONS}-{tag}.whl")
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for parent, _, names in os.walk(folder):
            for name in sorted(names):
                whole = os.path.join(parent, name)
                inside = os.path.relpath(whole, folder)
                with open(whole, "rb") as file:
                    data = file.read()
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
                record.append(f"{inside},sha256={digest.decode()},{len(data)}")
                entry = zipfile.ZipInfo(inside, (2020, 1, 1, 0, 0, 0))
                entry.external_attr = (os.stat(whole).st_mode & 0o777 | 0o100000) << 16
                wheel.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
        wheel.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))
    return path


def audited(path, out, tag, root):
    """The wheel with this tag, or the best that is true, and its libraries beside ours."""
    # For another machine auditwheel takes no tag, but finds the true one.
    plat = "auto" if root else tag or "auto"
    command = [sys.executable, "-m", "auditwheel", "repair", "--plat", plat, "-w", out]
    if root:
        folders = glob.glob(os.path.join(root, "**", "lib", "*-linux-gnu"), recursive=True)
        command += ["--ldpaths", ":".join(folders)]
    for name in FROM_THE_SYSTEM:
        command += ["--exclude", name]
    done = subprocess.run([*command, path], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"auditwheel refuses {os.path.basename(path)}:\n{done.stdout}{done.stderr}")
    made = max(glob.glob(os.path.join(out, "anynpu-*manylinux*.whl")), key=os.path.getmtime)
    found = [(int(a), int(b)) for a, b in re.findall(r"manylinux_(\d+)_(\d+)_", made)]
    wanted = re.match(r"manylinux_(\d+)_(\d+)_", tag or "")
    if wanted and min(found) > (int(wanted[1]), int(wanted[2])):
        sys.exit(f"auditwheel calls the wheel {os.path.basename(made)}, which is newer than {tag}")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--out", default=os.path.join(ROOT, "dist"))
    parser.add_argument("--glibc", default="", help="the oldest that it must run with, as 2.28")
    parser.add_argument("--machine", default=os.uname().machine)
    parser.add_argument("--root", help="where the libraries of another machine lie")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "files")
        staged(args.build, folder)
        add_sources(folder)
        path = audited(pack(folder, f"linux_{args.machine}", work), args.out,
                       args.glibc and f"manylinux_{args.glibc.replace('.', '_')}_{args.machine}",
                       args.root)
    size = os.path.getsize(path)
    print(f"{path}: {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        sys.exit(f"the wheel has {size} bytes, at most {MOST_BYTES} are wanted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
