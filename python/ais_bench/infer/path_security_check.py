# SPDX-License-Identifier: Apache-2.0
"""The name of common.path_security_check in earlier versions."""
from ais_bench.infer.common.path_security_check import *  # noqa: F401,F403
