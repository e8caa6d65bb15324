# SPDX-License-Identifier: Apache-2.0
"""Descriptions and configurations of acl.media: what every setter sets its getter gives, also by
number; a value that does not fit is named with its range."""
import api_table
import pytest
from media_programs import ok

import acl

media = acl.media
pytestmark = pytest.mark.usefixtures("device_0")


def called(*_):
    pass


# create and destroy; name of the functions; values to try.
OBJECTS = {
    "border_config": ("dvpp", {"border_type": (1, 3), "top": (4, 0), "bottom": (6, 0),
                               "left": (8, 0), "right": (2, 0)}),
    "pic_desc": ("dvpp", {"data": (4096, 0), "size": (1536, 0), "format": (12, 1), "width": (64, 0),
                          "height": (48, 0), "width_stride": (192, 0), "height_stride": (48, 0),
                          "ret_code": (1, 0)}),
    "stream_desc": ("dvpp", {"data": (4096, 0), "size": (99, 0), "format": (0, 3),
                             "timestamp": (1 << 40, 0), "eos": (1, 0), "ret_code": (1, 0)}),
    "resize_config": ("dvpp", {"interpolation": (1, 4)}),
    "jpege_config": ("dvpp", {"level": (1, 100)}),
    "frame_config": ("venc", {"eos": (1, 0), "force_i_frame": (1, 0)}),
}
NV12, NV21, RGB = 1, 2, 12
DECODER = {0: (1, 3), 1: (1, 0), 2: (77, 1 << 40), 3: (called,), 4: (31, 0), 5: (0, 3),
           6: (NV21, RGB), 7: (1920, 0), 8: (1080, 0), 9: (4, 16), 10: (1, 0)}
ENCODER = {0: (77, 1 << 40), 1: (called,), 2: (NV12, NV21), 3: (0, 3), 4: (16, 8192),
           5: (16, 8192), 6: (1, 65535), 7: (4096, 0), 8: (1 << 20, 0), 9: (1, 2), 10: (1, 240),
           11: (10, 80000), 12: (1, 100)}
CHANNELS = {
    "vdec": (DECODER, {"out_mode": 1, "thread_id": 2, "callback": 3, "channel_id": 4, "entype": 5,
                       "out_pic_format": 6, "out_pic_width": 7, "out_pic_height": 8,
                       "ref_frame_num": 9, "bit_depth": 10}),
    "venc": (ENCODER, {"thread_id": 0, "callback": 1, "pic_format": 2, "entype": 3, "pic_width": 4,
                       "pic_height": 5, "key_frame_interval": 6, "buf_addr": 7, "buf_size": 8,
                       "rc_mode": 9, "src_rate": 10, "max_bit_rate": 11}),
}
BY_HAND = {"acl.media.dvpp_set_channel_desc_mode"}  # has no getter but by number


@pytest.mark.parametrize("kind", list(OBJECTS))
def test_what_was_set_is_given_back(kind):
    prefix, fields = OBJECTS[kind]
    handle = getattr(media, f"{prefix}_create_{kind}")()
    for name, values in fields.items():
        for value in values:
            ok(getattr(media, f"{prefix}_set_{kind}_{name}")(handle, value))
            assert getattr(media, f"{prefix}_get_{kind}_{name}")(handle) == value
    ok(getattr(media, f"{prefix}_destroy_{kind}")(handle))


@pytest.mark.parametrize("kind", list(CHANNELS))
def test_values_of_channels_by_function_and_by_number(kind):
    table, names = CHANNELS[kind]
    handle = getattr(media, kind + "_create_channel_desc")()
    by_name = {number: name for name, number in names.items()}
    for number, values in table.items():
        for value in values:
            ok(getattr(media, kind + "_set_channel_desc_param")(handle, number, value))
            assert ok(getattr(media, kind + "_get_channel_desc_param")(handle, number)) == value
            if number in by_name:
                read = getattr(media, f"{kind}_get_channel_desc_{by_name[number]}")
                assert read(handle) == value
                ok(getattr(media, f"{kind}_set_channel_desc_{by_name[number]}")(handle, value))
                assert read(handle) == value
    assert getattr(media, kind + "_set_channel_desc_param")(handle, len(table), 0) != 0
    assert f"parameter {len(table)} does not exist" in acl.get_recent_err_msg()
    ok(getattr(media, kind + "_destroy_channel_desc")(handle))


@pytest.mark.parametrize("kind, number, value, sentence", [
    ("vdec", 0, 6, "colour matrix is 6; expected 0 to 5"),
    ("vdec", 1, 2, "output mode is 2; expected 0 to 1"),
    ("vdec", 4, 32, "channel id is 32; expected 0 to 31"),
    ("vdec", 9, 17, "number of reference frames is 17; expected 0 to 16"),
    ("venc", 2, RGB, "picture format is 12; expected 1 to 2"),
    ("venc", 4, 8, "picture width is 8; expected 16 to 8192"),
    ("venc", 5, 8208, "picture height is 8208; expected 16 to 8192"),
    ("venc", 6, 0, "key frame interval is 0; expected 1 to 65535"),
    ("venc", 11, 9, "largest bit rate (kbit/s) is 9; expected 10 to 80000"),
    ("dvpp", 1, 16, "mode is 16; expected 1 to 15"),
    ("dvpp", 2, 5, "the channel id can be read, not set"),
])
def test_a_value_that_does_not_fit_is_named_with_its_range(kind, number, value, sentence):
    handle = getattr(media, kind + "_create_channel_desc")()
    assert getattr(media, kind + "_set_channel_desc_param")(handle, number, value) != 0
    assert sentence in acl.get_recent_err_msg()
    ok(getattr(media, kind + "_destroy_channel_desc")(handle))


def test_channels_for_pictures_by_number():
    first, second = (media.dvpp_create_channel_desc() for _ in range(2))
    for number, value in {0: 2, 1: 5, 3: 1080, 4: 1920, 5: 1}.items():
        ok(media.dvpp_set_channel_desc_param(first, number, value))
        assert ok(media.dvpp_get_channel_desc_param(first, number)) == value
    ok(media.dvpp_set_channel_desc_mode(first, 3))
    assert ok(media.dvpp_get_channel_desc_param(first, 1)) == 3
    assert media.dvpp_set_channel_desc_mode(first, 0) != 0
    for desc in (first, second):
        ok(media.dvpp_create_channel(desc))
    numbers = [media.dvpp_get_channel_desc_channel_id(desc) for desc in (first, second)]
    assert numbers[0] != numbers[1]
    assert numbers == [ok(media.dvpp_get_channel_desc_param(desc, 2)) for desc in (first, second)]
    for desc in (first, second):
        ok(media.dvpp_destroy_channel(desc))
        ok(media.dvpp_destroy_channel_desc(desc))


def test_values_of_borders_have_an_index():
    config = media.dvpp_create_border_config()
    for index in range(4):
        ok(media.dvpp_set_border_config_value(config, index, 1.5 * index))
    assert [media.dvpp_get_border_config_value(config, index) for index in range(4)] == [
        0, 1.5, 3, 4.5]
    assert media.dvpp_set_border_config_value(config, 4, 1.0) != 0
    ok(media.dvpp_destroy_border_config(config))


def test_no_setter_of_the_table_is_missing_here():
    names = {row.python for row in api_table.ROWS if row.arguments}
    pairs = {name for name in names
             if name.startswith("acl.media.") and name.replace("_set_", "_get_") in names
             and "_set_" in name and not name.endswith(("_param", "_value"))}
    tested = {f"acl.media.{prefix}_set_{kind}_{field}"
              for kind, (prefix, fields) in OBJECTS.items() for field in fields}
    tested |= {f"acl.media.{kind}_set_channel_desc_{name}"
               for kind, (_, names_of) in CHANNELS.items() for name in names_of}
    assert pairs - tested - BY_HAND == set()
