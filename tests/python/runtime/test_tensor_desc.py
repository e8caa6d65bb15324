# SPDX-License-Identifier: Apache-2.0
"""Tensor descriptions as the guide's chapters 6 and 7.6 use them."""

import numpy as np
import pytest

import acl

ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT64 = 0, 1, 2, 9
NCHW, NHWC, ND, NC1HWC0 = 0, 1, 2, 3
INVALID_PARAM = 100000
FORMAT_NOT_MATCH = 100027

pytestmark = pytest.mark.usefixtures("initialised")


@pytest.fixture
def desc():
    handle = acl.create_tensor_desc(ACL_FLOAT, [1, 3, 8, 4], NCHW)
    assert handle > 0
    yield handle
    acl.destroy_tensor_desc(handle)


def test_a_description_gives_back_what_it_was_created_with(desc):
    assert acl.get_tensor_desc_type(desc) == ACL_FLOAT
    assert acl.get_tensor_desc_format(desc) == NCHW
    assert acl.get_tensor_desc_num_dims(desc) == 4
    assert [acl.get_tensor_desc_dim_v2(desc, i) for i in range(4)] == [
        (1, 0),
        (3, 0),
        (8, 0),
        (4, 0),
    ]
    assert acl.get_tensor_desc_dim(desc, 2) == 8
    assert acl.get_tensor_desc_element_count(desc) == 96
    assert acl.get_tensor_desc_size(desc) == 384
    assert acl.get_tensor_desc_address(desc) == 0
    assert acl.get_tensor_desc_by_index(desc, 0) == desc


def test_a_scalar_has_an_empty_list_of_dims():
    scalar = acl.create_tensor_desc(ACL_INT64, [], ND)
    assert acl.get_tensor_desc_num_dims(scalar) == 0
    assert acl.get_tensor_desc_size(scalar) == 8
    assert acl.destroy_tensor_desc(scalar) is None


def test_ranges_of_dynamic_dims():
    desc = acl.create_tensor_desc(ACL_FLOAT, [-1, 3], ND)
    assert acl.get_tensor_desc_dim_v2(desc, 0) == (-1, 0)
    assert acl.get_tensor_desc_size(desc) == 0
    assert acl.set_tensor_shape_range(desc, [[1, 16], [3, 3]]) == 0
    assert acl.get_tensor_desc_dim_range(desc, 0, 2) == ([1, 16], 0)
    assert acl.set_tensor_shape_range(desc, [[1, -1]]) == 0
    assert acl.get_tensor_desc_dim_range(desc, 0, 2)[0][1] == -1
    assert acl.set_tensor_shape_range(desc, [[5, 2]]) == INVALID_PARAM
    assert acl.set_tensor_value_range(desc, [[1, 8]]) == 0
    acl.destroy_tensor_desc(desc)


def test_setters(desc):
    assert acl.set_tensor_desc_name(desc, "x") is None
    assert acl.get_tensor_desc_name(desc) == "x"
    assert acl.set_tensor_format(desc, NC1HWC0) == 0
    assert acl.set_tensor_shape(desc, [1, 1, 8, 4, 16]) == 0
    assert acl.set_tensor_storage_format(desc, NC1HWC0) == 0
    assert acl.set_tensor_storage_shape(desc, [1, 1, 8, 4, 16]) == 0
    assert acl.get_tensor_desc_num_dims(desc) == 4, "storage is apart from the shape"
    assert acl.set_tensor_origin_format(desc, NHWC) == 0
    assert acl.set_tensor_origin_shape(desc, [1, 8, 4, 3]) == 0
    assert acl.get_tensor_desc_format(desc) == NHWC
    assert acl.set_tensor_dynamic_input(desc, "inputs") == 0
    assert acl.set_tensor_place_ment(desc, 1) == 0
    assert acl.set_tensor_place_ment(desc, 7) == INVALID_PARAM


def test_a_constant_is_copied_from_host_memory(desc):
    value = np.arange(4, dtype=np.float32)
    assert acl.set_tensor_const(desc, value.ctypes.data, value.nbytes) == 0
    assert acl.set_tensor_const(desc, 0x10, 4) == INVALID_PARAM
    assert "cannot be read" in acl.get_recent_err_msg()


def test_a_format_is_transformed_into_a_new_description(desc):
    other, ret = acl.trans_tensor_desc_format(desc, NHWC)
    assert ret == 0
    assert [acl.get_tensor_desc_dim(other, i) for i in range(4)] == [1, 8, 4, 3]
    acl.destroy_tensor_desc(other)
    assert acl.trans_tensor_desc_format(desc, 27)[-1] == FORMAT_NOT_MATCH


@pytest.mark.parametrize(
    "arguments",
    [
        (999, [1], ND),
        (ACL_FLOAT, [-5], ND),
        (ACL_FLOAT, [1], -9),
        (ACL_FLOAT, [1] * 129, ND),
        (ACL_FLOAT, [2**62, 4], ND),
    ],
)
def test_bad_arguments_give_zero_and_a_sentence(arguments):
    assert acl.create_tensor_desc(*arguments) == 0
    message = acl.get_recent_err_msg()
    assert "aclCreateTensorDesc failed" in message and "Solution" in message


def test_null_stale_and_foreign_handles():
    stale = acl.create_tensor_desc(ACL_FLOAT, [1], ND)
    acl.destroy_tensor_desc(stale)
    buffer = acl.create_data_buffer(0, 0)
    for handle, text in [
        (0, "is 0 (null)"),
        (stale, "destroyed already"),
        (buffer, "data buffer"),
        (0x7F0000001000, "not a handle"),
    ]:
        assert acl.get_tensor_desc_dim_v2(handle, 0)[-1] == INVALID_PARAM
        assert text in acl.get_recent_err_msg()
        assert acl.get_tensor_desc_size(handle) == 0
        assert acl.destroy_tensor_desc(handle) is None
    acl.destroy_data_buffer(buffer)


def test_wrong_types_and_counts_are_type_errors(desc):
    for call in [
        lambda: acl.create_tensor_desc(ACL_FLOAT, [1]),
        lambda: acl.create_tensor_desc(ACL_FLOAT, "1", ND),
        lambda: acl.create_tensor_desc("0", [1], ND),
        lambda: acl.get_tensor_desc_size(),
        lambda: acl.get_tensor_desc_size(None),
        lambda: acl.set_tensor_desc_name(desc, 3),
        lambda: acl.set_tensor_shape(desc, [1.5]),
    ]:
        with pytest.raises(TypeError):
            call()


def test_float16_and_sizes():
    assert acl.float16_to_float(0x3C00) == 1.0
    assert acl.float_to_float16(-2.0) == 0xC000
    for value in np.random.default_rng(0).standard_normal(200).astype(np.float32):
        assert acl.float_to_float16(float(value)) == int(np.float16(value).view(np.uint16))
    assert [acl.data_type_size(t) for t in (0, 1, 2, 3, 9, 11, 16, 17, 27)] == [
        4,
        2,
        1,
        4,
        8,
        8,
        8,
        16,
        2,
    ]
    assert acl.data_type_size(13) == 0
