# SPDX-License-Identifier: Apache-2.0
"""The decoder's detailed codes (guide, table 5-1), row by row. ret_code is 0 or 1; the detailed
code and its name are in the message. Codes that only hardware raises come from
ANYNPU_VDEC_FAULT."""
import time

import pytest
import video_files
from media_programs import ok, upload
from video_channels import Decoder, report_thread

import acl

STATES = ["FAILED", "DVPP_ERROR", "PARAM_INVALID", "OUTPUT_SIZE_INVALID", "INTERNAL_ERROR",
          "QUEUE_FULL", "QUEUE_EMPTY", "QUEUE_NOT_EXIST", "GET_CONTEX_FAILED",
          "SUBMIT_EVENT_FAILED", "MEMORY_FAILED", "SEND_NOTIFY_FAILED", "VPC_OPERATE_FAILED",
          "CHANNEL_ABNORMAL"]
ERRORS = ["INVALID_STATE", "HARDWARE", "SCD_CUT_FAIL", "VDM_DECODE_FAIL", "ALLOC_MEM_FAIL",
          "ALLOC_DYNAMIC_MEM_FAIL", "ALLOC_IN_OR_OUT_PORT_MEM_FAIL", "BITSTREAM", "VIDEO_FORMAT",
          "IMAGE_FORMAT", "CALLBACK", "INPUT_BUFFER", "INBUF_SIZE", "THREAD_CREATE_FBD_FAIL",
          "CREATE_INSTANCE_FAIL", "INIT_DECODER_FAIL", "GET_CHANNEL_HANDLE_FAIL",
          "COMPONENT_SET_FAIL", "COMPARE_NAME_FAIL", "OTHER"]
ROWS = {**{1 + i: "AICPU_DVPP_KERNEL_STATE_" + name for i, name in enumerate(STATES)},
        **{0x10001 + i: "ERR_" + name for i, name in enumerate(ERRORS)},
        0x20000: "ERR_DECODE_NOPIC", 0x20001: "", 0x20002: "",
        **{0xA0058000 + low: "" for low in (*range(1, 10), *range(0xC, 0x16), 0x3F)}}


@pytest.fixture
def reporter():
    with report_thread() as thread:
        yield thread


def packets(count=2):
    return video_files.units("h264", video_files.make("h264", 128, 96, 4, ("-bf", "0")))[:count]


def test_every_row_of_the_table_can_be_raised_and_names_itself(reporter, monkeypatch):
    stream = packets(1)[0]
    decoder = Decoder(reporter)
    for number, code in enumerate(ROWS):
        monkeypatch.setenv("ANYNPU_VDEC_FAULT", f"{code:#x}@{number}")
        ok(decoder.send(stream, code))
        while len(decoder.results) <= number:  # the variable is read when the frame is decoded
            time.sleep(0.001)
    monkeypatch.delenv("ANYNPU_VDEC_FAULT")
    ok(decoder.send(stream, "good"))
    results = decoder.close()
    assert results[-1][:2] == ("good", 0), "the channel goes on"
    for (code, name), (sent, ret_code, _, message) in zip(ROWS.items(), results):
        assert sent == code and ret_code == 1
        assert f"{code:#x} ({name}" in message, message
        meaning = message.split("):", 1)[1]
        assert len(meaning.split()) >= 2, message


def test_a_fault_hits_the_frame_it_names(reporter, monkeypatch):
    monkeypatch.setenv("ANYNPU_VDEC_FAULT", "0x10002@1")
    decoder = Decoder(reporter)
    for packet in packets():
        ok(decoder.send(packet))
    results = decoder.close()
    assert results[0][1] == 0 and results[1][1] == 1
    assert "0x10002 (ERR_HARDWARE)" in results[1][3]


def test_no_callback_and_an_input_without_bytes_are_told_at_once(reporter):
    desc = acl.media.vdec_create_channel_desc()
    ok(acl.media.vdec_set_channel_desc_thread_id(desc, reporter))
    assert acl.media.vdec_create_channel(desc) != 0
    assert "0x1000b (ERR_CALLBACK)" in acl.get_recent_err_msg()
    ok(acl.media.vdec_destroy_channel_desc(desc))
    decoder = Decoder(reporter)
    assert decoder.send(b"") != 0
    assert "0x1000d (ERR_INBUF_SIZE)" in acl.get_recent_err_msg()
    decoder.close()


def test_a_channel_cannot_be_destroyed_inside_its_own_callback(reporter):
    codes = []

    def inside(packet, picture, user_data):
        decoder.callback(packet, picture, user_data)
        codes.append((acl.media.vdec_destroy_channel(decoder.desc), acl.get_recent_err_msg()))

    decoder = Decoder(reporter, callback=inside)
    for packet in packets():
        ok(decoder.send(packet))
    while len(codes) < 2:
        time.sleep(0.001)
    results = decoder.close()
    assert [r[1] for r in results] == [0, 0], "both frames came, and the channel ended outside"
    for code, message in codes:
        assert code != 0 and "inside a callback" in message


def test_a_channel_that_is_destroyed_waits_for_every_frame(reporter):
    for _ in range(20):
        decoder = Decoder(reporter)
        for packet in packets(3):
            ok(decoder.send(packet))
        assert len(decoder.close()) == 3
    assert upload(b"x"), "and the system goes on"
