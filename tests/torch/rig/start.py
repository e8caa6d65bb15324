# SPDX-License-Identifier: Apache-2.0
"""Loads the libraries of the rig (build.py) at the start of every Python of .venv-torch."""
import ctypes
import os
import sys

_RIG = os.path.join(sys.prefix, "rig")
for _name in sorted(os.listdir(_RIG)) if os.path.isdir(_RIG) else ():
    ctypes.CDLL(os.path.join(_RIG, _name), os.RTLD_GLOBAL | os.RTLD_LAZY)
