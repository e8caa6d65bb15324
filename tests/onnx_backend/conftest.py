# SPDX-License-Identifier: Apache-2.0
"""Finds the build and the files beside this one."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
os.environ.setdefault("ANYNPU_BUILD_DIR", os.path.join(ROOT, "build"))
sys.path[:0] = [HERE, os.path.join(os.environ["ANYNPU_BUILD_DIR"], "python")]
