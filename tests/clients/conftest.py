# SPDX-License-Identifier: Apache-2.0
"""Where the makers of networks lie, and a word to who runs pytest without the environment."""
import os
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))


def pytest_configure():
    if "ASCEND_HOME_PATH" not in os.environ:
        pytest.exit("ASCEND_HOME_PATH is not set; run `make test-clients`, or source "
                    "build/ascend/set_env.sh first", returncode=2)
