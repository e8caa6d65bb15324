# SPDX-License-Identifier: Apache-2.0
"""Where the helpers lie, and a word to who runs pytest without the environment."""
import json
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(HERE, "tensorflow"), os.path.join(ROOT, "tests", "support"),
                os.path.join(ROOT, "tests", "python", "tensorflow_cases")]


NETWORKS = os.path.join(ROOT, "tests", "data", "tensorflow", "networks.json")


def pytest_addoption(parser):
    parser.addoption("--record-networks", action="store_true",
                     help="keep the errors of the networks for docs/tensorflow_score.md")


@pytest.fixture(scope="session")
def errors(request):
    """{network: largest relative error}, kept in networks.json with --record-networks."""
    found = {}
    yield found
    if not request.config.getoption("--record-networks"):
        return
    with open(NETWORKS, encoding="utf-8") as file:
        known = json.load(file)
    known.update(found)
    with open(NETWORKS, "w", encoding="utf-8") as file:
        json.dump(dict(sorted(known.items())), file, indent=1)
        file.write("\n")


def pytest_configure():
    if "ASCEND_HOME_PATH" not in os.environ:
        pytest.exit("ASCEND_HOME_PATH is not set; run `make test-frameworks`, or source "
                    "build/ascend/set_env.sh first", returncode=2)
