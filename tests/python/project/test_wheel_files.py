# SPDX-License-Identifier: Apache-2.0
"""What a wheel holds, without making one: the installed files give the same folder tree of
libraries, headers and build files as the build folder."""
import os
import subprocess
import sys

import pytest
from build_tree import BUILD, ROOT

TREE = os.path.join(BUILD, "ascend")
# What pip makes from pyproject.toml, and what is copied from python/: not files of the build.
OF_PIP = ("bin", "compiler/bin", "python/site-packages", "toolkit/tools/profiler")
OF_TESTS = "libanynpu_remote.so"  # the back end of tests/device


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder `anynpu` of an environment: files of the component that a wheel is made of, and
    the Python sources."""
    prefix = tmp_path_factory.mktemp("wheel")
    subprocess.run(["cmake", "--install", BUILD, "--component", "wheel", "--prefix", prefix],
                   check=True, stdout=subprocess.DEVNULL, timeout=300)
    for name in sorted(os.listdir(os.path.join(ROOT, "python", "anynpu"))):
        target = prefix / "anynpu" / name
        if not target.exists():
            target.symlink_to(os.path.join(ROOT, "python", "anynpu", name))
    return prefix / "anynpu"


def files_below(tree):
    """Names of files relative to a tree; links to folders of headers are followed."""
    found = set()
    for folder, folders, names in os.walk(tree, followlinks=True):
        place = os.path.relpath(folder, tree)
        if place in OF_PIP or place.split(os.sep)[0] in ("latest", "tools"):
            folders.clear()
            continue
        found |= {os.path.normpath(os.path.join(place, name)) for name in names
                  if name != OF_TESTS}
    return found


def test_an_installed_package_makes_the_tree_of_the_build_folder(package, tmp_path):
    code = ("import sys; sys.path.insert(0, sys.argv[1])\n"
            "from anynpu import ascend_tree\nascend_tree.make(sys.argv[2])\n")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("ANYNPU_") and name != "PYTHONPATH"}
    made = subprocess.run([sys.executable, "-c", code, str(package.parent), str(tmp_path / "tree")],
                          capture_output=True, text=True, timeout=120, env=env)
    assert made.returncode == 0, made.stderr
    built, installed = files_below(TREE), files_below(tmp_path / "tree")
    assert built - installed == set()
    broken = [name for name in installed if not os.path.exists(tmp_path / "tree" / name)]
    assert len(installed) > 200 and broken == []


def test_every_library_of_the_package_is_loaded_from_where_it_lies(package):
    names = sorted(name for name in os.listdir(package / "lib") if name.startswith("lib"))
    assert {"libascendcl.so", "libacl_rt.so", "libruntime.so", "libhccl.so", "libgraph.so",
            "libge_runner.so", "libopapi.so", "libfmk_onnx_parser.so"} <= set(names)
    code = "import ctypes, sys\nfor path in sys.argv[1:]: ctypes.CDLL(path)\n"
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    paths = [str(package / "lib" / name) for name in names if "anynpu" not in name]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True,
                          timeout=120, env=env)
    assert done.returncode == 0, done.stderr
