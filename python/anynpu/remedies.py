# SPDX-License-Identifier: Apache-2.0
"""One command for each part that is missing on a machine: what `anynpu doctor` advises."""
import importlib.util
import re
import shutil
import sys

# File of a library that a plug-in needs -> the package that has it in Debian and its relatives.
PACKAGES = {
    "libjpeg": "libjpeg62-turbo", "libpng16": "libpng16-16", "libavcodec": "libavcodec59",
    "libavutil": "libavutil57", "libswscale": "libswscale6", "libucp": "libucx0",
    "libucs": "libucx0", "libuct": "libucx0", "libucm": "libucx0", "libzstd": "libzstd1",
    "libz": "zlib1g",
}


# Of one version of Debian: its number belongs to the package's name.
OF_DEBIAN_12 = ("libavcodec", "libavutil", "libswscale")


def system():
    """ID, VERSION_ID and PRETTY_NAME of this system, as os-release(5) says."""
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            facts = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', file.read(), re.M))
    except OSError:
        facts = {}
    return facts.get("ID", ""), facts.get("VERSION_ID", ""), facts.get("PRETTY_NAME", "this system")


def for_library(reason):
    """The command for a plug-in that does not open because of `reason`, or ''."""
    found = re.search(r"(lib\w+)\S*: cannot open shared object", reason)
    package = PACKAGES.get(found[1], "") if found else ""
    name, version, title = system()
    if found and found[1] in OF_DEBIAN_12 and (name, version) != ("debian", "12"):
        return f"FFmpeg 5.1 ({package}), which Debian 12 has; {title} has another version"
    return f"apt-get install {package}" if package else ""


def pip(requirement):
    return f'{sys.executable} -m pip install "{requirement}"'


def cuda_libraries():
    """Whether one of the libraries that the GPU's kernels need is missing."""
    import ctypes
    for name in ("libnvrtc.so.13", "libcublasLt.so.13", "libcudnn.so.9"):
        try:
            ctypes.CDLL(name)
        except OSError:
            if importlib.util.find_spec("nvidia") is None:
                return True
    return False


def remedies(reasons, has_driver):
    """(what, command) rows; `reasons` are (part, why it is not used)."""
    rows = []
    for part, why in reasons:
        command = for_library(why)
        if command:
            rows.append((part, command))
    if has_driver and cuda_libraries():
        rows.append(("GPU kernels", pip("anynpu[cuda]")))
    if (not any(shutil.which(name) for name in ("clang++-19", "clang-19"))
            and importlib.util.find_spec("ziglang") is None):
        rows.append(("HPE kernels", pip("ziglang") + ", or apt-get install clang-19 lld-19"))
    for module, part in (("numpy", "arrays"), ("ray", "clusters")):
        if importlib.util.find_spec(module) is None:
            rows.append((part, pip(f"anynpu[{module}]" if module == "ray" else module)))
    return rows
