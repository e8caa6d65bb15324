# SPDX-License-Identifier: Apache-2.0
"""Lets `pytest tests/python/FOLDER/test_x.py` work by itself; this folder and support/ are in the
path of all tests."""
import build_tree  # noqa: F401
