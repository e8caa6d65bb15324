#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes PyPI's torch usable beside torch_npu in .venv-torch, without gigabytes of CUDA packages.

PyPI's torch for x86-64 is the CUDA build. Its libraries name libraries of CUDA that nothing here
calls: each gets an empty library of that name. separate_keys.cpp solves the clash with torch_npu.
A .pth file loads them at the start of every Python of the environment, so that no test needs
LD_PRELOAD, which torch_npu treats differently. Users take the +cpu build of torch instead.

    tests/torch/rig/build.py .venv-torch
"""
import argparse
import glob
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def dynamic_part(library):
    text = subprocess.run(["readelf", "-W", "-d", "-V", library], check=True, capture_output=True,
                          text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*?)\]", text)
    versions, name = {}, None
    for line in text.partition("Version needs section")[2].splitlines():
        if file := re.search(r"File: (\S+)", line):
            name = file.group(1)
        elif version := re.search(r"Name: (\S+)", line):
            versions.setdefault(name, set()).add(version.group(1))
    return needed, versions


def wanted_symbols(library):
    """[(name, version or '')] that a library takes from others."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True,
                          capture_output=True, text=True).stdout
    return re.findall(r" UND (\w+)(?:@(\S+))?", text)


def missing_libraries(site):
    """{name: {(symbol, version)}} of the libraries of CUDA that are not in the environment. What
    may lie on the system is not asked, so that every machine tests the same."""
    libraries = glob.glob(os.path.join(site, "torch", "lib", "*.so*"))
    there = glob.glob(os.path.join(site, "nvidia/**/lib/*.so*"), recursive=True)
    there = {os.path.basename(path) for path in libraries + there}
    missing = {}
    for library in libraries:
        needed, versions = dynamic_part(library)
        symbols = wanted_symbols(library)
        for name in needed:
            if name in there or not name.startswith(("libcu", "libnv", "libnccl")):
                continue
            own, found = versions.get(name, set()), missing.setdefault(name, set())
            prefix = name[3:].partition(".")[0].lower()  # "nccl" of libnccl.so.2
            for symbol, version in symbols:
                if version in own or not own and not version and \
                        symbol.lower().startswith(prefix):
                    found.add((symbol, version))
    return missing


def make_empty_library(folder, name, symbols):
    """Functions that end the process: torch takes their addresses, and nothing here calls them."""
    script = os.path.join(folder, name + ".map")
    versions = {}
    for symbol, version in sorted(symbols):
        versions.setdefault(version, []).append(symbol)
    with open(script, "w", encoding="utf-8") as file:
        for version, names in versions.items():
            file.write(f"{version} {{ global: {'; '.join(names)}; }};\n")
    code = "void abort(void);\n" + "\n".join(
        f"void {symbol}(void) {{ abort(); }}" for symbol, _ in sorted(symbols))
    versioned = [f"-Wl,--version-script={script}"] if any(versions) else []
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", os.path.join(folder, name),
                    f"-Wl,-soname,{name}", *versioned], input=code, text=True, check=True)
    os.remove(script)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("environment")
    environment = os.path.abspath(parser.parse_args().environment)
    site, = glob.glob(os.path.join(environment, "lib", "python3.*", "site-packages"))
    rig = os.path.join(environment, "rig")
    shutil.rmtree(rig, ignore_errors=True)
    os.makedirs(rig)
    for name, symbols in missing_libraries(site).items():
        make_empty_library(rig, name, symbols)
    subprocess.run(["g++", "-std=c++17", "-O1", "-shared", "-fPIC",
                    os.path.join(HERE, "separate_keys.cpp"), "-o",
                    os.path.join(rig, "libseparate_keys.so"), "-ldl"], check=True)
    shutil.copy(os.path.join(HERE, "start.py"), os.path.join(site, "anynpu_torch_rig.py"))
    with open(os.path.join(site, "anynpu_torch_rig.pth"), "w", encoding="utf-8") as file:
        file.write("import anynpu_torch_rig\n")


if __name__ == "__main__":
    main()
