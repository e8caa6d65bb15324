# SPDX-License-Identifier: Apache-2.0
"""Lets `import mindspore.profiler` find anynpu.profiler where MindSpore is absent.

anynpu_mindspore.pth runs install() when Python starts: a finder at the very end of the list, so
that a real MindSpore is found before it and left untouched. No folder mindspore is installed.
ANYNPU_NO_SHIM=1 leaves it out. Nothing is imported until a program imports mindspore.
"""
import dis
import importlib
import importlib.machinery
import importlib.util
import os
import sys

NAME = "mindspore"


def _absent(name):
    """`mindspore.Tensor`, and `from mindspore import Tensor`."""
    text = (f"module 'mindspore' has no attribute '{name}': MindSpore is not installed, and what "
            "stands in for it is its profiler alone (mindspore.profiler, by AnyNPU); install it "
            "for the rest (pip install mindspore)")
    caller = sys._getframe(1)
    at = caller.f_code.co_code[caller.f_lasti] if caller.f_lasti >= 0 else -1
    # An import statement would hide the text of an AttributeError.
    if at == dis.opmap["IMPORT_FROM"] and not name.startswith("__"):
        raise ImportError(text, name="mindspore")
    raise AttributeError(text)


class _Loader:
    def __init__(self, target):
        self.target = target
        self.spec = None

    def create_module(self, spec):
        if self.target is None:
            return None
        module = importlib.import_module(self.target)
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        if self.target is not None:
            module.__spec__ = self.spec  # the import system has put its own there
        else:
            module.__doc__ = ("Stands in for MindSpore, which is not installed: it has the module "
                              "profiler, by AnyNPU, and nothing else.")
            module.__getattr__ = _absent
            if os.environ.get("MS_PROFILER_OPTIONS"):
                from anynpu.profiler import EnvProfiler
                module._environment_profiler = EnvProfiler()


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        parts = name.split(".")
        if parts[0] != NAME or (len(parts) > 1 and parts[1] != "profiler"):
            return None
        if len(parts) > 1 and getattr(sys.modules.get(NAME), "__path__", None):
            return None  # a real package, which has no such module
        found = ".".join(["anynpu", *parts[1:]]) if len(parts) > 1 else None
        if len(parts) > 2 and importlib.util.find_spec(found) is None:
            return None
        spec = importlib.machinery.ModuleSpec(name, _Loader(found), is_package=len(parts) < 3)
        return spec


def install():
    if os.environ.get("ANYNPU_NO_SHIM") != "1" and Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
