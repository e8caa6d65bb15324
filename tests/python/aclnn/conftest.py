# SPDX-License-Identifier: Apache-2.0
"""A device and a stream for the calls of a file."""
import pytest

from aclnn import Session


@pytest.fixture(scope="module")
def nn():
    with Session() as session:
        yield session
