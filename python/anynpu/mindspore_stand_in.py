# SPDX-License-Identifier: Apache-2.0
"""`import mindspore` through PYTHONPATH (set_env.sh, anynpu run): the real MindSpore where one is
installed, else what mindspore_name.py offers. In the tree of set_env.sh its name is mindspore.
"""
import importlib.machinery
import importlib.util
import os
import sys


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    elsewhere = [path for path in sys.path if os.path.abspath(path or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("mindspore", elsewhere)
    if spec is None and os.environ.get("ANYNPU_NO_SHIM") != "1":
        from anynpu import mindspore_name
        mindspore_name.install()
        spec = mindspore_name.Finder.find_spec("mindspore")
    if spec is None:
        raise ModuleNotFoundError("No module named 'mindspore'", name="mindspore")
    module = importlib.util.module_from_spec(spec)
    sys.modules["mindspore"] = module  # what `import mindspore` gives
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["mindspore"]
        raise


_load()
