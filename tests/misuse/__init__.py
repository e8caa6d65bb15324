# SPDX-License-Identifier: Apache-2.0
"""Calls every pyACL function in every wrong way (see walk.py); driven by tests/python/test_misuse.py."""
