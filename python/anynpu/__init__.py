# SPDX-License-Identifier: Apache-2.0
"""AnyNPU's own command line (`anynpu`) and the programs that keep the vendor's names."""
from ._version import __version__

__all__ = ["__version__"]
