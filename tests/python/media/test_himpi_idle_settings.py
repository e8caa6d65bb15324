# SPDX-License-Identifier: Apache-2.0
"""Settings that are kept and change nothing: the log says so when a program sets one, and
docs/media.md lists all of them."""
import os
import re
import subprocess
import sys

from build_tree import ROOT, SUPPORT

import acl

FIELDS = {
    "rc_param": ["row_qp_delta", "direction", "threshold_b", "h264_cbr_param.max_reencode_times",
                 "h264_cbr_param.max_i_qp", "h264_cbr_param.min_i_qp",
                 "h264_cbr_param.min_i_proportion", "h264_vbr_param.chg_pos",
                 "h264_avbr_param.motion_sensitivity", "h265_qvbr_param.max_psnr_fluctuate",
                 "h265_cvbr_param.extra_bit_percent"],
    "h264_vui": ["vui_time_info.timing_info_present_flag",
                 "vui_aspect_ratio.overscan_info_present_flag",
                 "vui_bitstream_restric.bitstream_restriction_flag"],
    "chn_param": ["priority", "poll_wake_up_frame_cnt"],
    "ref_param": ["base", "enhance", "pred_en"],
    "cu_pred": ["pred_mode"],
    "intra_refresh": ["intra_refresh_mode", "refresh_num", "req_i_qp"],
    "slice_split": ["split_mode", "slice_output_en"],
    "streamcopy_param": ["copy_en"],
    "mod_param": ["venc_mod_param.buf_cache", "h264_mod_param.low_power_mode",
                  "h265_mod_param.one_stream_buf", "jpeg_mod_param.dering_mode"],
}
PROGRAM = """
import ast, sys
import acl
from test_himpi import H264, H265, encoder, ok
himpi = acl.himpi
ok(acl.init()), ok(acl.rt.set_device(0)), ok(himpi.sys_init())
modules = {"venc": 1, "h264": 2, "h265": 3, "jpeg": 4}
for group, fields in ast.literal_eval(sys.argv[1]).items():
    for field in fields:
        member = field.split("_")  # of a union: h264_cbr_param.max_i_qp
        key = modules[member[0]] if group == "mod_param" else 0
        codec, mode = member[:2] if member[0] in ("h264", "h265") and not key else ("h264", "cbr")
        ok(encoder(0, H264 if codec == "h264" else H265, mode))
        values = ok(getattr(himpi, "venc_get_" + group)({"mod_type": key} if key else 0))
        *path, name = field.split(".")
        inner = values
        for step in path:
            inner = inner[step]
        wanted = [1] * len(inner[name]) if isinstance(inner[name], list) else 1
        inner[name] = wanted
        print("set", field, flush=True)
        ok(getattr(himpi, "venc_set_" + group)(*([values] if key else [0, values])))
        back = ok(getattr(himpi, "venc_get_" + group)({"mod_type": key} if key else 0))
        for step in path:
            back = back[step]
        assert back[name] == wanted, (field, back)
        if key:
            inner[name] = 0
            ok(himpi.venc_set_mod_param(values))
        ok(himpi.venc_destroy_chn(0))
ok(himpi.sys_exit()), ok(acl.rt.reset_device(0)), ok(acl.finalize())
"""


DECODERS = """
import acl
from test_himpi import ok
from test_himpi_rows import ATTR, JPEG
from video_channels import Decoder, report_thread
himpi, media = acl.himpi, acl.media
with report_thread() as thread:
    Decoder(thread, bit_depth=1).close()
    desc = media.dvpp_create_channel_desc()
    ok(media.dvpp_set_channel_desc_param(desc, 5, 1))
    ok(media.dvpp_create_channel(desc)), ok(media.dvpp_destroy_channel(desc))
    ok(himpi.sys_init())
    ok(himpi.vdec_create_chn(1, ATTR))
    ok(himpi.vdec_set_display_mode(1, 1))
    ok(himpi.vdec_set_protocol_param(1, ok(himpi.vdec_get_protocol_param(1))))
    ok(himpi.vdec_destroy_chn(1))
    ok(himpi.vdec_create_chn(1, dict(ATTR, type=JPEG)))
    ok(himpi.vdec_set_jpegd_precision_mode(1, 1))
    ok(himpi.vdec_destroy_chn(1)), ok(himpi.sys_exit())
"""


def log_of(text, *arguments):
    """What a program prints, with its warnings."""
    here = os.path.dirname(os.path.abspath(__file__))
    package = os.path.dirname(os.path.dirname(os.path.abspath(acl.__file__)))
    done = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True,
                          timeout=300,
                          env={**os.environ, "PYTHONPATH": f"{package}:{here}:{SUPPORT}",
                               "ASCEND_SLOG_PRINT_TO_STDOUT": "1", "ASCEND_GLOBAL_LOG_LEVEL": "2"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_settings_of_decoders_without_effect_are_named_in_the_log():
    told = re.findall(r"(\w+): (.*) was set and changes nothing", log_of(DECODERS))
    assert told == [("VDEC", "the bit depth (pictures have eight bits)"),
                    ("JPEGD", "the precision mode"), ("VDEC", "display_mode"),
                    ("VDEC", "protocol_param"), ("JPEGD", "the precision mode")]


def test_a_setting_without_effect_is_given_back_and_named_in_the_log():
    output = log_of(PROGRAM, repr(FIELDS))
    parts = re.split(r"^set (\S+)$", output, flags=re.MULTILINE)[1:]
    told = dict(zip(parts[::2], parts[1::2]))
    assert list(told) == [field for fields in FIELDS.values() for field in fields]
    for field, text in told.items():
        name = field.split(".")[-1]
        assert f"VENC: {name} was set and changes nothing" in text, (field, text)


def test_the_document_names_every_setting_without_effect():
    with open(os.path.join(ROOT, "src", "api", "acl_dvpp_mpi", "venc_idle.def"),
              encoding="utf-8") as file:
        idle = re.findall(r"IDLE\((\w+)\)", file.read())
    assert len(idle) > 50
    with open(os.path.join(ROOT, "docs", "media.md"), encoding="utf-8") as file:
        text = file.read()
    assert [name for name in idle if f"`{name}`" not in text] == []
