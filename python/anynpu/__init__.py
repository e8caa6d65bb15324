# SPDX-License-Identifier: Apache-2.0
"""AnyNPU's own command line (`anynpu`) and the programs that keep the vendor's names."""
from ._version import __version__

__all__ = ["__version__"]


def __getattr__(name):
    """`anynpu.report`, which a notebook calls, without an import of its own."""
    if name == "report":
        import importlib
        return importlib.import_module("anynpu.report")
    raise AttributeError(f"module 'anynpu' has no attribute '{name}'")
