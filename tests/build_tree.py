# SPDX-License-Identifier: Apache-2.0
"""Where the repository and its build are. Importing this lets tests, and the programs they start,
find the build's Python packages and commands as under tests/run_all.py, and the helpers of
tests/support."""
import os
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
DATA = os.path.join(TESTS, "data")
SUPPORT = os.path.join(TESTS, "support")
BUILD = os.path.abspath(os.environ.get("ANYNPU_BUILD_DIR", os.path.join(ROOT, "build")))


def put_first(variable, folder):
    """In a list of folders in the environment, where it is not yet."""
    folders = [f for f in os.environ.get(variable, "").split(os.pathsep) if f]
    if folder not in folders:
        os.environ[variable] = os.pathsep.join([folder, *folders])


os.environ["ANYNPU_BUILD_DIR"] = BUILD
put_first("PATH", os.path.join(BUILD, "bin"))
# As set_env.sh gives it to users.
for folder in (SUPPORT, os.path.join(BUILD, "ascend", "python", "site-packages")):
    put_first("PYTHONPATH", folder)
    if folder not in sys.path:
        sys.path.insert(0, folder)
