# SPDX-License-Identifier: Apache-2.0
"""Imports every file of networks; `registry.NETWORKS` is complete afterwards."""

import classification  # noqa: F401
import dense  # noqa: F401
import detectors  # noqa: F401
import forecasts  # noqa: F401
import generative  # noqa: F401
import language  # noqa: F401
import sound  # noqa: F401
import tables  # noqa: F401
import transformers  # noqa: F401
import voices  # noqa: F401
from registry import NETWORKS  # noqa: F401
