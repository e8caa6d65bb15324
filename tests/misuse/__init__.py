# SPDX-License-Identifier: Apache-2.0
"""Calls every pyACL function in every wrong way (walk.py); run by
tests/python/bindings/test_misuse.py."""
