# SPDX-License-Identifier: Apache-2.0
"""Where the helpers lie, and a word to who runs pytest without the environment."""
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(HERE, "tensorflow"), os.path.join(ROOT, "tests", "support"),
                os.path.join(ROOT, "tests", "python", "tensorflow_cases")]


def pytest_configure():
    if "ASCEND_HOME_PATH" not in os.environ:
        pytest.exit("ASCEND_HOME_PATH is not set; run `make test-frameworks`, or source "
                    "build/ascend/set_env.sh first", returncode=2)
