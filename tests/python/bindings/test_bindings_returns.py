# SPDX-License-Identifier: Apache-2.0
"""Every function returns the documented shape, also when it fails (nulls, before init)."""
import api_table
import pytest

import acl

TYPES = {"str": (str, type(None)), "f32": float, "f64": float, "callable": object,
         "int or callable": object, "ndarray": object, "bytes": bytes}
NOT_CALLED = {"acl.init"}  # it would succeed


def expected_type(kind):
    if kind.startswith("list"):
        return list
    if kind == "dict" or kind.startswith(("acl", "hi_")):
        return dict
    return TYPES.get(kind, int)


@pytest.mark.parametrize("row", api_table.PYTHON_ROWS, ids=lambda row: row.python)
def test_return_shape(row):
    if row.module == "util" or row.python in NOT_CALLED:
        pytest.skip("has its own tests")
    result = api_table.find(row.python)(*api_table.needed_arguments(row))
    if not row.returns:
        assert result is None
        return
    values = [result] if len(row.returns) == 1 else result
    if len(row.returns) > 1:
        assert type(result) is tuple
    assert len(values) == len(row.returns)
    for value, returned in zip(values, row.returns):
        assert isinstance(value, expected_type(returned.kind)), returned.name
        if returned.kind in ("handle", "ptr"):
            assert value >= 0


@pytest.mark.parametrize("row", [r for r in api_table.PYTHON_ROWS if r.status != "works"],
                         ids=lambda row: row.python)
def test_function_that_is_not_there_says_so(row):
    acl.get_recent_err_msg()
    result = api_table.find(row.python)(*api_table.needed_arguments(row))
    if row.returns and row.returns[-1].name == "ret":
        ret = result[-1] if isinstance(result, tuple) else result
        assert ret == (207000 if row.python.startswith("acl.rt.") else 200006)
    message = acl.get_recent_err_msg()
    assert row.c_function in message and row.reason.split(";")[0] in message
