# SPDX-License-Identifier: Apache-2.0
"""Every function of the table is in the module, under its names, with its arguments."""
import inspect
import subprocess
import sys

import api_table
import pytest

import acl


@pytest.mark.parametrize("row", api_table.PYTHON_ROWS, ids=lambda row: row.python)
def test_function_is_there_with_the_documented_arguments(row):
    function = api_table.find(row.python)
    signature = inspect.signature(function)
    assert list(signature.parameters) == [a.name for a in row.arguments]
    optional = [a.name for a in row.arguments if a.default]
    have_default = [p.name for p in signature.parameters.values() if p.default is not p.empty]
    assert have_default == optional
    assert function.__doc__


def test_module_has_no_function_that_the_table_lacks():
    listed = {row.python for row in api_table.PYTHON_ROWS}
    for module in [acl, acl.rt, acl.mdl, acl.util]:
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isbuiltin(value):
                assert f"{module.__name__}.{name}" in listed


def test_misspellings_of_the_guide_are_the_functions_they_mean():
    by_name = {row.python: row for row in api_table.PYTHON_ROWS}
    assert by_name["acl.rt.destroy_dstream"].c_function == "aclrtDestroyStream"
    assert by_name["acl.mdl.set_aipp_rbuw_swap_switch"].c_function == "aclmdlSetAIPPRbuvSwapSwitch"
    assert acl.rt.get_soc_name() == acl.get_soc_name()


@pytest.mark.parametrize("statement", [
    "import acl; acl.rt.malloc; acl.mdl.execute; acl.util.bytes_to_ptr",
    "import acl.rt; acl.rt.malloc",
    "from acl import util; util.ptr_to_bytes",
    "from acl.rt import malloc",
    "import acl; assert 'bytes_to_ptr' in dir(acl.util)",
    "from acl import *; init; rt.malloc",
])  # fmt: skip
def test_import_works_in_every_usual_form(statement):
    subprocess.run([sys.executable, "-c", statement], check=True, timeout=300)


def test_import_starts_no_thread_and_opens_nothing():
    program = """
import os
def state():
    return len(os.listdir("/proc/self/task")), sorted(os.listdir("/proc/self/fd"))
before = state()
import acl
assert state() == before, (before, state())
import sys
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
