# SPDX-License-Identifier: Apache-2.0
"""Profiles a model by the name that MindSpore programs use, found by the wheel's .pth file:
python mindspore_profile.py MODEL.om"""
import csv
import glob
import os
import runpy

import mindspore.profiler as ms

here = os.path.dirname(os.path.abspath(__file__))
level = ms._ExperimentalConfig(profiler_level=ms.ProfilerLevel.Level1)
with ms.profile(on_trace_ready=ms.tensorboard_trace_handler("profiles"), experimental_config=level):
    runpy.run_path(os.path.join(here, "model.py"), run_name="__main__")
(table,) = glob.glob("profiles/*_ascend_ms/ASCEND_PROFILER_OUTPUT/kernel_details.csv")
with open(table, newline="") as file:
    rows = list(csv.DictReader(file))
assert rows, "no operator was recorded"
print(len(rows), "operators by", ms.__name__)
