# SPDX-License-Identifier: Apache-2.0
"""Builds a folder of links with the vendor's toolkit layout, so that build files find their paths.

`LAYOUT` lists the contents. A wheel cannot hold links, so an installed package makes
its tree on first use; a build folder has one from the start. Making it again changes nothing.
"""
import os
import platform
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


# Beside the others in a build folder, in no package: a device for tests.
TEST_LIBRARIES = {"libanynpu_remote.so"}


def _link_libraries(folder):
    """One link a library, in a real folder, so that a `stub` folder can stand inside it."""
    libraries = paths.library_folder()
    if not os.path.isdir(libraries):
        return
    for name in sorted(os.listdir(libraries)):
        if name.startswith("lib") and ".so" in name and name not in TEST_LIBRARIES:
            _link(os.path.join(libraries, name), os.path.join(folder, name))


def _program(name):
    """A program of the package, or the start script that pip made for it; None if there is none."""
    found = None
    for home in (paths.program_folder(), os.path.join(sys.prefix, "bin")):
        if os.access(os.path.join(home, name), os.X_OK):
            found = os.path.join(home, name)
    return found


def _link_programs(folder):
    for name in ("anynpu", "atc", "npu-smi", "msaccucmp", "stc-clang", "stc-clang++",
                 "stc-ld.lld", "stc-smi", "stc-prof", "stcc", "stc-gdb"):
        if found := _program(name):
            _link(found, os.path.join(folder, name))
    # torch_npu follows this link and looks for its Python file from where it ends.
    above = os.path.dirname(folder)
    tree = os.path.dirname(above) if os.path.basename(above) == "compiler" else above
    if _program("msprof"):
        _link(os.path.join(tree, MSPROF), os.path.join(folder, "msprof"))


def _write_profiler(folder):
    """The program msprof and the Python file of that name that profilers of frameworks look for."""
    program = _program("msprof")
    if not program:
        return
    script = os.path.join(folder, "bin", "msprof")
    _write(script, f"#!/bin/sh\nexec {shlex.quote(program)} \"$@\"\n")
    os.chmod(script, 0o755)
    for place, module in (("msprof/msprof.py", "command"),
                          ("interface/get_msprof_info.py", "info")):
        path = os.path.join(folder, "profiler_tool", "analysis", place)
        _write(path, MSPROF_PY.format(module=module))
        os.chmod(path, 0o755)


def _link_modules(folder):
    """Only our modules, so that PYTHONPATH adds no other package of the environment."""
    for name in sorted(os.listdir(paths.SITE)):
        ours = name.split(".")[0] in ("acl", "aclruntime", "ais_bench", "anynpu", "hccl", "hpe")
        metadata = name.endswith("-info") and name.startswith(("aclruntime-", "ais_bench-"))
        if metadata or ours and not name.endswith("-info"):
            _link(os.path.join(paths.SITE, name), os.path.join(folder, name))
    # A .pth file has no effect in PYTHONPATH, so this one stands in for it.
    _link(os.path.join(paths.PACKAGE, "mindspore_stand_in.py"),
          os.path.join(folder, "mindspore.py"))


def _link_operators(folder):
    """The library of operator prototypes that loaders look for below opp."""
    _link(os.path.join(paths.library_folder(), "libopsproto.so"),
          os.path.join(folder, "libopsproto.so"))


def _link_headers(folder):
    _link(paths.include_folder(), folder)


def _link_comparer(folder):
    _link(os.path.join(paths.PACKAGE, "msaccucmp.py"), os.path.join(folder, "msaccucmp.py"))


def _write(path, text):
    """Atomic, even if a second process makes the same tree."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_whole(path, text)


MSPROF = os.path.join("toolkit", "tools", "profiler", "bin", "msprof")
MSPROF_PY = f"""# What profilers of frameworks start by this name.
import sys

sys.path.insert(0, {paths.SITE!r})
from anynpu.msprof.{{module}} import main  # noqa: E402

sys.exit(main())
"""
MACHINE = platform.machine()
VERSION = "8.0.RC2.alpha001"  # what aclsysGetCANNVersion says
VERSION_INFO = f"""Version={VERSION}
version_dir={VERSION}
arch={MACHINE}
"""
# MindSpore reads this one and warns about releases that it was not made for.
COMPILER_VERSION = "8.5.0"
COMPILER_VERSION_INFO = VERSION_INFO.replace(VERSION, COMPILER_VERSION)
INSTALL_INFO = f"""package_name=AnyNPU
version={VERSION}
arch={MACHINE}
os=linux
"""
SETENV = """# Source this file: . bin/setenv.bash
. "$(dirname "${BASH_SOURCE[0]:-$0}")/../set_env.sh"
"""
ASCENDC = """# Kernels written in Ascend C are compiled for the cores of a card; there is no such
# compiler here. Including this file is no error, so that the rest of a project can be built.
set(ASCENDC_MISSING "AnyNPU cannot compile Ascend C kernels for the cores of a card. Leave the \
kernel target out of this build (its host code works), or write the kernel as \
docs/single_operators.md says.")
macro(ascendc_library)
  message(FATAL_ERROR "ascendc_library: ${ASCENDC_MISSING}")
endmacro()
macro(ascendc_fatbin_library)
  message(FATAL_ERROR "ascendc_fatbin_library: ${ASCENDC_MISSING}")
endmacro()
macro(ascendc_compile_definitions)
endmacro()
macro(ascendc_compile_options)
endmacro()
macro(ascendc_include_directories)
endmacro()
"""

# Where, and what makes it: a function that gets the folder, or the text of a file.
_LIBRARY_FOLDERS = ("lib64", "lib64/stub", "runtime/lib64", "runtime/lib64/stub",
                    f"runtime/lib64/stub/{MACHINE}", "acllib/lib64", "acllib/lib64/stub",
                    "compiler/lib64", "compiler/lib64/stub", "devlib", f"devlib/{MACHINE}",
                    f"{MACHINE}-linux/lib64", f"{MACHINE}-linux/devlib")
_HEADER_FOLDERS = ("include", "runtime/include", "acllib/include", "compiler/include",
                   f"{MACHINE}-linux/include")
_ASCENDC_FOLDERS = ("compiler/tikcpp", "toolkit/tools/tikcpp", f"{MACHINE}-linux/tikcpp")
LAYOUT = (
    *((folder, _link_libraries) for folder in _LIBRARY_FOLDERS),
    *((folder, _link_headers) for folder in _HEADER_FOLDERS),
    ("python/site-packages", _link_modules),
    ("toolkit/tools/profiler", _write_profiler),
    ("bin", _link_programs),
    ("compiler/bin", _link_programs),
    ("bin/setenv.bash", SETENV),
    (f"opp/built-in/op_proto/lib/linux/{MACHINE}", _link_operators),
    ("toolkit/tools/operator_cmp/compare", _link_comparer),
    *((f"{folder}version.info", VERSION_INFO)
      for folder in ("", "runtime/", "toolkit/", "opp/", "share/info/runtime/",
                     "share/info/compiler/", "share/info/toolkit/", "share/info/opp/")),
    ("compiler/version.info", COMPILER_VERSION_INFO),
    *((f"{folder}ascend_toolkit_install.info", INSTALL_INFO)
      for folder in ("", f"{MACHINE}-linux/")),
    *((f"{folder}/ascendc_kernel_cmake/ascendc.cmake", ASCENDC) for folder in _ASCENDC_FOLDERS),
)


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
        # MindSpore looks for a folder of this name in the path of the library that it loaded.
        ("LD_LIBRARY_PATH", below("latest", "lib64"), True),
        ("PYTHONPATH", below("python", "site-packages"), True),
        ("PATH", below("bin"), True),
        # MindSpore's jit_level O1 fuses operators into code for the card's cores: it is not to.
        ("MS_DEV_GRAPH_KERNEL_FLAGS", "--opt_level=0", False),
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
    for place, content in LAYOUT:
        path = os.path.join(tree, place)
        if isinstance(content, str):
            _write(path, content)
            continue
        os.makedirs(os.path.dirname(path) if content is _link_headers else path, exist_ok=True)
        content(path)
    _link(os.path.join("toolkit", "tools"), os.path.join(tree, "tools"))
    _link(".", os.path.join(tree, "latest"))
    script = "# Source this file: . set_env.sh\n" + "\n".join(export_lines(tree)) + "\n"
    _write(os.path.join(tree, "set_env.sh"), script)
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
