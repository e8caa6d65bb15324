# SPDX-License-Identifier: Apache-2.0
"""Lays out a folder as the vendor's toolkit does, by links, so that build files find their paths.

    <tree>/include, lib64, bin, python/site-packages
    <tree>/runtime/include, runtime/lib64, runtime/lib64/stub      and the same under acllib/
    <tree>/latest -> the tree itself, <tree>/set_env.sh

A wheel cannot hold links, so an installed package makes its tree on first use; a build folder has
one from the start. Making it again changes nothing.
"""
import os
import secrets
import shlex
import sys

from . import paths
from .whole_file import write_whole


def _link(target, link):
    """Makes `link` point to `target`, replacing an older link. Safe against a second process."""
    if os.path.islink(link) and os.readlink(link) == target:
        return
    os.makedirs(os.path.dirname(link), exist_ok=True)
    fresh = f"{link}.{secrets.token_hex(8)}"
    os.symlink(target, fresh)
    os.replace(fresh, link)


def _link_libraries(folder):
    """One link a library, in a real folder, so that a `stub` folder can stand inside it."""
    libraries = paths.library_folder()
    if not os.path.isdir(libraries):
        return
    for name in sorted(os.listdir(libraries)):
        if name.startswith("lib") and ".so" in name:
            _link(os.path.join(libraries, name), os.path.join(folder, name))


def _link_programs(folder):
    """The programs of the package, or the start scripts that pip made for them."""
    homes = [paths.program_folder(), os.path.join(sys.prefix, "bin")]
    for name in ("anynpu", "atc", "npu-smi", "msprof", "msaccucmp", "stc-clang", "stc-clang++",
                 "stc-ld.lld", "stc-smi", "stc-prof", "stcc", "stc-gdb"):
        for home in homes:
            if os.access(os.path.join(home, name), os.X_OK):
                _link(os.path.join(home, name), os.path.join(folder, name))


def _link_modules(folder):
    """Our modules alone, so that PYTHONPATH brings no other package of the environment along."""
    for name in sorted(os.listdir(paths.SITE)):
        if name.split(".")[0] in ("acl", "anynpu", "hpe") and not name.endswith("-info"):
            _link(os.path.join(paths.SITE, name), os.path.join(folder, name))


def variables(tree):
    """(name, value, is a list to put in front of) for every variable that set_env.sh sets."""
    def below(*parts):
        return os.path.join(tree, *parts)
    return [
        ("ASCEND_TOOLKIT_HOME", tree, False),
        ("ASCEND_HOME_PATH", tree, False),
        ("ASCEND_AICPU_PATH", tree, False),
        ("ASCEND_OPP_PATH", below("opp"), False),
        ("DDK_PATH", tree, False),
        ("NPU_HOST_LIB", below("runtime", "lib64", "stub"), False),
        ("INSTALL_DIR", tree, False),
        ("LD_LIBRARY_PATH", below("lib64"), True),
        ("PYTHONPATH", below("python", "site-packages"), True),
        ("PATH", below("bin"), True),
    ]


def export_lines(tree):
    lines = []
    for name, value, prepend in variables(tree):
        tail = f"${{{name}:+:${name}}}" if prepend else ""
        lines.append(f"export {name}={shlex.quote(value)}{tail}")
    return lines


def make(tree):
    """Makes the tree and returns its path."""
    tree = os.path.abspath(tree)
    for part in (("lib64",), ("lib64", "stub"), ("runtime", "lib64"), ("runtime", "lib64", "stub"),
                 ("acllib", "lib64"), ("acllib", "lib64", "stub")):
        folder = os.path.join(tree, *part)
        os.makedirs(folder, exist_ok=True)
        _link_libraries(folder)
    _link(paths.include_folder(), os.path.join(tree, "include"))
    for part in ("runtime", "acllib"):
        _link(os.path.join("..", "include"), os.path.join(tree, part, "include"))
    _link_modules(os.path.join(tree, "python", "site-packages"))
    os.makedirs(os.path.join(tree, "bin"), exist_ok=True)
    os.makedirs(os.path.join(tree, "opp"), exist_ok=True)
    _link_programs(os.path.join(tree, "bin"))
    compare = os.path.join(tree, "toolkit", "tools", "operator_cmp", "compare")
    _link(os.path.join(paths.PACKAGE, "msaccucmp.py"), os.path.join(compare, "msaccucmp.py"))
    _link(os.path.join("toolkit", "tools"), os.path.join(tree, "tools"))
    _link(".", os.path.join(tree, "latest"))
    script = "# Source this file: . set_env.sh\n" + "\n".join(export_lines(tree)) + "\n"
    path = os.path.join(tree, "set_env.sh")
    write_whole(path, script)
    return tree


def location():
    """Beside the libraries of a build folder, else inside the package, else in the cache."""
    build = os.path.join(os.path.dirname(paths.SITE), "ascend")
    if os.path.isdir(build):
        return build
    if os.access(paths.PACKAGE, os.W_OK):
        return os.path.join(paths.PACKAGE, "ascend")
    return os.path.join(paths.cache_folder(), "ascend")


if __name__ == "__main__":
    print(make(sys.argv[1] if len(sys.argv) > 1 else location()))
