#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes libraries to link with, so that the result runs with an older glibc than this machine's.

    make_stubs.py --glibc 2.28 --cxx g++ --out FOLDER

A shared library asks for symbols by name and version, and the linker takes the newest version
that it finds. The libraries made here have the names of libc.so.6, libm.so.6, libstdc++.so.6 and
libgcc_s.so.1 and the symbols of this machine's, but of each symbol the newest version that the
older system has, and no code: they are linked with, never run. Functions that are missing there
come from compat.cpp, and those of libstdc++ from its archive.
"""
import argparse
import os
import re
import subprocess
import sys

# The newest versions that the manylinux tags of these glibcs allow (PEP 600, auditwheel's policy).
NEWEST = {
    "2.28": {"GLIBC": "2.28", "GLIBCXX": "3.4.24", "CXXABI": "1.3.11", "GCC": "7.0.0"},
    "2.31": {"GLIBC": "2.31", "GLIBCXX": "3.4.28", "CXXABI": "1.3.12", "GCC": "7.0.0"},
}
# compat.cpp has its own, and calls this one by its version.
HIDDEN = {"__libc_start_main"}
# Where a function was before glibc 2.34 moved it into libc, by its name.
MOVED = (("libdl.so.2", r"^(dl[a-z]|_dl_)"),
         ("librt.so.1", r"^(aio_|lio_|mq_|shm_|timer_)"),
         ("libpthread.so.0", r"^(pthread_|sem_|__pthread|thrd_|mtx_|cnd_|tss_|call_once)"))


def number(version):
    return tuple(int(part) for part in version.split("."))


def allowed(version, newest):
    """Whether the older system has this version ("GLIBC_2.17"); names without a number: yes."""
    family, _, rest = version.rpartition("_")
    if family not in newest:
        return version != "GLIBC_PRIVATE" and not version.startswith("GLIBC_ABI")
    return not re.fullmatch(r"[\d.]+", rest) or number(rest) <= number(newest[family])


def symbols_of(path, newest):
    """Of each symbol (version, kind, size, moved) as the older system has it."""
    listing = subprocess.run(["readelf", "--dyn-syms", "-W", path], check=True, capture_output=True,
                             text=True).stdout
    found, newest_here = {}, {}
    for line in listing.splitlines():
        parts = line.split()
        if len(parts) < 8 or parts[6] == "UND" or "@" not in parts[7]:
            continue
        name, version = parts[7].replace("@@", "@").split("@")[:2]
        if "@@" in parts[7]:
            newest_here[name] = version
        if parts[3] not in ("FUNC", "IFUNC", "OBJECT", "TLS") or not allowed(version, newest):
            continue
        order = number(re.search(r"[\d.]*$", version)[0].strip(".") or "0")
        if name not in found or order > found[name][0]:
            found[name] = (order, version, parts[3], int(parts[2], 0))
    return {name: (version, kind, size, name in newest_here and
                   not allowed(newest_here[name], newest))
            for name, (_, version, kind, size) in found.items()}


def assembly(symbols):
    """One line of nothing for each symbol."""
    lines = []
    for i, (name, (version, kind, size, _)) in enumerate(sorted(symbols.items())):
        section = {"OBJECT": ".data", "TLS": '.section .tdata,"awT",%progbits'}.get(kind, ".text")
        mark = {"OBJECT": "%object", "TLS": "%tls_object"}.get(kind, "%function")
        label = name
        if name in HIDDEN:
            label = f"stub_{i}"
            lines.append(f".symver {label}, {name}@{version}")
        size = size or 1
        lines += [section, f".globl {label}", f".type {label}, {mark}", f".size {label}, {size}",
                  f"{label}:", f".space {size}" if kind in ("OBJECT", "TLS") else ".byte 0"]
    return "\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""])


def version_script(symbols):
    versions = {}
    for name, (version, *_rest) in symbols.items():
        versions.setdefault(version, []).append(name)
    text = ""
    for version in sorted(versions):
        names = " ".join(f'"{name}";' for name in sorted(versions[version]) if name not in HIDDEN)
        text += f"{version} {{ {'global: ' + names if names else ''} }};\n"
    # A version of its own: in that of a hidden name, which on ARM is the first, it would hide it.
    return text + "ANYNPU_NONE { local: *; };\n" if text else "{ local: *; };\n"


def stub(cxx, folder, soname, symbols):
    base = os.path.join(folder, soname)
    with open(base + ".s", "w", encoding="utf-8") as file:
        file.write(assembly(symbols))
    with open(base + ".map", "w", encoding="utf-8") as file:
        file.write(version_script(symbols))
    subprocess.run([cxx, "-shared", "-nostdlib", f"-Wl,-soname,{soname}",
                    f"-Wl,--version-script,{base}.map", base + ".s", "-o", base], check=True)


def asked(cxx, name):
    path = subprocess.run([cxx, f"-print-file-name={name}"], check=True, capture_output=True,
                          text=True).stdout.strip()
    if not os.path.isabs(path):
        sys.exit(f"make_stubs.py: {cxx} has no {name}; install its package")
    return path


def script(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--glibc", choices=NEWEST, required=True)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    newest = NEWEST[args.glibc]
    out = os.path.abspath(args.out)
    os.makedirs(out, exist_ok=True)

    libc = symbols_of(asked(args.cxx, "libc.so.6"), newest)
    moved = {}
    for name in [name for name, (_, _, _, was_moved) in libc.items() if was_moved]:
        for soname, pattern in MOVED:
            if re.match(pattern, name):
                moved.setdefault(soname, {})[name] = libc.pop(name)
                break
    stub(args.cxx, out, "libc.so.6", libc)
    for soname, _ in MOVED:
        stub(args.cxx, out, soname, moved.get(soname, {}))
    for soname in ("libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"):
        stub(args.cxx, out, soname, symbols_of(asked(args.cxx, soname), newest))

    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([args.cxx, "-x", "c++", "-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden",
                    "-fno-exceptions", "-c", os.path.join(here, "compat.cpp"), "-o",
                    os.path.join(out, "compat.o")], check=True)
    archive = os.path.join(out, "libanynpu_compat.a")
    if os.path.exists(archive):
        os.remove(archive)
    # The compiler's own: the archive has objects for its machine.
    ar = subprocess.run([args.cxx, "-print-prog-name=ar"], check=True, capture_output=True,
                        text=True).stdout.strip()
    subprocess.run([ar, "rcs", archive, os.path.join(out, "compat.o")], check=True)

    loader = "ld-linux-aarch64.so.1" if "aarch64" in asked(args.cxx, "libc.so.6") else \
        "ld-linux-x86-64.so.2"
    script(out, "libc.so",
           f"GROUP ( {out}/libc.so.6 {archive} {asked(args.cxx, 'libc_nonshared.a')} AS_NEEDED"
           f" ( {out}/libpthread.so.0 {out}/libdl.so.2 {out}/librt.so.1"
           f" {asked(args.cxx, loader)} ) )")
    script(out, "libm.so", f"INPUT ( {out}/libm.so.6 )")
    script(out, "libstdc++.so", f"GROUP ( {out}/libstdc++.so.6 {asked(args.cxx, 'libstdc++.a')} )")
    script(out, "libgcc_s.so", f"GROUP ( {out}/libgcc_s.so.1 -lgcc )")
    for name, soname in (("libpthread.so", "libpthread.so.0"), ("libdl.so", "libdl.so.2"),
                         ("librt.so", "librt.so.1")):
        script(out, name, f"INPUT ( AS_NEEDED ( {out}/{soname} ) )")
    return 0


if __name__ == "__main__":
    sys.exit(main())
