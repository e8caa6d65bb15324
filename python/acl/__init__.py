# SPDX-License-Identifier: Apache-2.0
"""pyACL: the Python interface of AscendCL, running on any machine through AnyNPU.

Everything is generated in the extension module from the tables src/api/*/api.tsv; importing it
starts no thread and opens no device. docs/pyacl.md says how arguments and results are converted.
"""
from acl._acl import *  # noqa: F401,F403
from acl._acl import __all__  # noqa: F401
