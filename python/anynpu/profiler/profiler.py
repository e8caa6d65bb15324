# SPDX-License-Identifier: Apache-2.0
"""Where MindSpore has the function analyse."""
from anynpu.profiler.analysis import analyse

__all__ = ["analyse"]
