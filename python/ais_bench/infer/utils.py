# SPDX-License-Identifier: Apache-2.0
"""The name of common.utils in earlier versions."""
from ais_bench.infer.common.utils import *  # noqa: F401,F403
from ais_bench.infer.common.utils import logger, logger_print  # noqa: F401
