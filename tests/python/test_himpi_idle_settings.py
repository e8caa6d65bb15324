# SPDX-License-Identifier: Apache-2.0
"""Settings of encoders that are kept and change nothing: the log says so when a program sets one,
and docs/media.md lists all of them."""
import os
import re
import subprocess
import sys

import acl

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
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
from test_himpi import encoder, ok
himpi = acl.himpi
ok(acl.init()), ok(acl.rt.set_device(0)), ok(himpi.sys_init())
for group, fields in ast.literal_eval(sys.argv[1]).items():
    for field in fields:
        key = 3 if group == "mod_param" else 0
        ok(encoder(0))
        values = ok(getattr(himpi, "venc_get_" + group)({"mod_type": 3} if key else 0))
        *path, name = field.split(".")
        inner = values
        for step in path:
            inner = inner[step]
        wanted = [1] * len(inner[name]) if isinstance(inner[name], list) else 1
        inner[name] = wanted
        print("set", field, flush=True)
        ok(getattr(himpi, "venc_set_" + group)(*([values] if key else [0, values])))
        back = ok(getattr(himpi, "venc_get_" + group)({"mod_type": 3} if key else 0))
        for step in path:
            back = back[step]
        assert back[name] == wanted, (field, back)
        if key:
            inner[name] = 0
            ok(himpi.venc_set_mod_param(values))
        ok(himpi.venc_destroy_chn(0))
ok(himpi.sys_exit()), ok(acl.rt.reset_device(0)), ok(acl.finalize())
"""


def test_a_setting_without_effect_is_given_back_and_named_in_the_log():
    here = os.path.dirname(os.path.abspath(__file__))
    package = os.path.dirname(os.path.dirname(os.path.abspath(acl.__file__)))
    done = subprocess.run([sys.executable, "-c", PROGRAM, repr(FIELDS)], capture_output=True,
                          text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": f"{package}:{here}",
                               "ASCEND_SLOG_PRINT_TO_STDOUT": "1", "ASCEND_GLOBAL_LOG_LEVEL": "2"})
    assert done.returncode == 0, done.stdout + done.stderr
    parts = re.split(r"^set (\S+)$", done.stdout, flags=re.MULTILINE)[1:]
    told = dict(zip(parts[::2], parts[1::2]))
    assert list(told) == [field for fields in FIELDS.values() for field in fields]
    for field, text in told.items():
        name = field.split(".")[-1]
        assert f"encoder: {name} was set and changes nothing" in text, (field, text)


def test_the_document_names_every_setting_without_effect():
    with open(os.path.join(ROOT, "src", "api", "acl_dvpp_mpi", "venc_idle.def"),
              encoding="utf-8") as file:
        idle = re.findall(r"IDLE\((\w+)\)", file.read())
    assert len(idle) > 50
    with open(os.path.join(ROOT, "docs", "media.md"), encoding="utf-8") as file:
        text = file.read()
    assert [name for name in idle if f"`{name}`" not in text] == []
