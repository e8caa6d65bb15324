# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments: TypeError or OverflowError that name the function and the argument."""
import api_table
import pytest

import acl

BITS = {"i8": 7, "u8": 8, "i16": 15, "u16": 16, "i32": 31, "enum": 31, "u32": 32, "i64": 63,
        "u64": 64, "size": 64, "handle": 64, "ptr": 64}  # fmt: skip
ANY_TYPE = ("object", "list")


def cases():
    for row in api_table.PYTHON_ROWS:
        for position, argument in enumerate(row.arguments):
            yield pytest.param(row, position, argument, id=f"{row.python}-{argument.name}")


@pytest.mark.parametrize("row", api_table.PYTHON_ROWS, ids=lambda row: row.python)
def test_wrong_count_is_a_type_error_that_names_the_function(row):
    function = api_table.find(row.python)
    plain = api_table.plain_arguments(row)
    least = sum(1 for a in row.arguments if not a.default)
    # Functions without parameters ignore what they are given; start_thread has pyACL's words.
    too_many = [*plain, 0] if row.arguments else None
    words = row.python.replace(".", r"\.") + r"\(.*given"
    if row.python == "acl.util.start_thread":
        words = "function takes exactly 2 arguments"
    for arguments in [too_many, plain[: least - 1] if least else None]:
        if arguments is not None:
            with pytest.raises(TypeError, match=words):
                function(*arguments)
    with pytest.raises(TypeError):
        function(*plain, unknown=1)


@pytest.mark.parametrize("row, position, argument", cases())
def test_wrong_type_is_a_type_error_that_names_the_argument(row, position, argument):
    if argument.kind in ANY_TYPE or row.python == "acl.util.start_thread":
        return  # start_thread: test_bindings_threads.py
    arguments = api_table.needed_arguments(row, position)
    wrong = [object(), 1j]
    if not argument.optional:
        wrong.append(None)
    if argument.kind == "callable" and "callback" in row.python:
        wrong.remove(None) if None in wrong else None
        if row.python == "acl.rt.launch_callback":
            wrong.append(None)
    if argument.kind != "str" and "str" not in argument.kind:
        wrong.append("text")
    if argument.kind not in ("bytes", "ndarray"):
        wrong.append(b"bytes")
    for value in wrong:
        arguments[position] = value
        with pytest.raises(TypeError) as raised:
            api_table.find(row.python)(*arguments)
        message = str(raised.value)
        assert message.startswith(row.python + ":") and f"'{argument.name}'" in message
        assert "expected" in message


@pytest.mark.parametrize("row, position, argument", cases())
def test_int_that_does_not_fit_is_an_overflow_error(row, position, argument):
    bits = BITS.get(argument.kind)
    if bits is None:
        return
    arguments = api_table.needed_arguments(row, position)
    for value in [1 << bits, -(1 << 64), 1 << 200]:
        arguments[position] = value
        with pytest.raises(OverflowError, match=f"'{argument.name}'"):
            api_table.find(row.python)(*arguments)


def test_anything_with_index_is_an_int():
    numpy = pytest.importorskip("numpy")

    class Two:
        def __index__(self):
            return 2

    expected = acl.data_type_size(2)
    for value in [numpy.int64(2), numpy.uint8(2), numpy.array(2), Two()]:
        assert acl.data_type_size(value) == expected
    assert acl.data_type_size(True) == acl.data_type_size(1)
    for value in [2.0, numpy.float32(2), "2"]:
        with pytest.raises(TypeError):
            acl.data_type_size(value)


def test_negative_int_for_an_unsigned_parameter_reaches_the_c_function():
    _, ret = acl.rt.malloc(-1, 0)
    assert ret != 0


def test_exception_of_an_index_method_comes_through():
    class Broken:
        def __index__(self):
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        acl.data_type_size(Broken())
    with pytest.raises(RuntimeError, match="mine"):
        acl.create_tensor_desc(0, [Broken()], 0)


def test_list_that_shrinks_while_it_is_read_is_survived():
    dims = [1, 2, 3]

    class Shrink:
        def __index__(self):
            dims.clear()
            return 1

    dims[0] = Shrink()
    acl.destroy_tensor_desc(acl.create_tensor_desc(0, dims, 0))


def test_lists_may_be_tuples_and_arrays():
    numpy = pytest.importorskip("numpy")
    for dims in [[2, 3], (2, 3), numpy.array([2, 3]), range(2, 4)]:
        desc = acl.create_tensor_desc(0, dims, 0)
        acl.destroy_tensor_desc(desc)
    for dims in ["23", b"23", 2, {2: 3}]:
        with pytest.raises(TypeError, match="'dims'.*expected a list"):
            acl.create_tensor_desc(0, dims, 0)


def test_dict_keys_may_be_missing_and_unknown_keys_are_ignored():
    for dims in [{}, {"dimCount": 1, "dims": [4]}, {"dims": [4], "other": "x"}]:
        assert isinstance(acl.mdl.set_input_dynamic_dims(0, 0, 0, dims), int)
    with pytest.raises(TypeError, match="key 'dimCount'"):
        acl.mdl.set_input_dynamic_dims(0, 0, 0, {"dimCount": "1"})
    with pytest.raises(ValueError, match="key 'dims' has 129 items, expected at most 128"):
        acl.mdl.set_input_dynamic_dims(0, 0, 0, {"dims": [1] * 129})
    with pytest.raises(ValueError, match="key 'name' is longer than 127"):
        acl.mdl.set_input_dynamic_dims(0, 0, 0, {"name": "n" * 128})


def test_optional_struct_may_be_none_zero_or_a_dict():
    config = {"attrs": [{"attr": 1, "value": {"moduleId": 3}}], "numAttrs": 1}
    for value in [None, 0, {}, config]:
        assert len(acl.rt.malloc_with_cfg(0, 0, value)) == 2
    with pytest.raises(TypeError, match="'cfg'.*key 'moduleId'"):
        acl.rt.malloc_with_cfg(0, 0, {"attrs": [{"value": {"moduleId": "3"}}]})


def test_text_with_a_null_character_is_refused():
    with pytest.raises(ValueError, match="null character"):
        acl.mdl.load_from_file("model\0.om")


def test_buffers_that_the_caller_sizes_have_a_bound():
    with pytest.raises(ValueError, match="'len' is 1099511627776"):
        acl.rt.ipc_mem_get_export_key(0, 0, 1 << 40, 0)
    with pytest.raises(ValueError, match="'gear_count'"):
        acl.mdl.get_input_dynamic_dims(0, -1, -1)
