# SPDX-License-Identifier: Apache-2.0
"""`anynpu check`: every kind of object that is left behind is told with the line that made it,
every kind of finding of docs/check.md is provoked by some program, and a program that is not
checked has nothing of it."""
import glob
import os
import re
import subprocess
import sys

from build_tree import BUILD, ROOT
from conftest import EXAMPLES, marked
from net_models import make_model
from onnx import TensorProto, helper

# A line for each: what it makes is never given back.
LEAKS = """
memory, ret = acl.rt.malloc(4096, 0)  # found: leak-device-memory
host, ret = acl.rt.malloc_host(4096)  # found: leak-host-memory
picture, ret = acl.media.dvpp_malloc(4096)  # found: leak-media-memory
first, ret = acl.rt.get_context()
context, ret = acl.rt.create_context(0)  # found: leak-context
stream, ret = acl.rt.create_stream()  # found: leak-stream
assert acl.rt.set_context(first) == 0
event, ret = acl.rt.create_event()  # found: leak-event
notify, ret = acl.rt.create_notify(0)  # found: leak-notify
group = acl.rt.create_group_info()  # found: leak-group-info
address, ret = acl.rt.reserve_mem_address(2 << 20, 0, 0, 0)  # found: leak-reserved-address
buffer = acl.create_data_buffer(memory, 64)  # found: leak-data-buffer
desc = acl.create_tensor_desc(0, [4], 2)  # found: leak-tensor-desc
dataset = acl.mdl.create_dataset()  # found: leak-dataset
model_desc = acl.mdl.create_desc()  # found: leak-model-desc
model, ret = acl.mdl.load_from_file("net.om")  # found: leak-model
config = acl.mdl.create_config_handle()  # found: leak-model-config
aipp, ret = acl.mdl.create_aipp(1), 0  # found: leak-aipp
attr = acl.op.create_attr()  # found: leak-op-attr
assert acl.op.compile("Relu", [desc], [desc], attr, 0, 0, "") == 0
handle, ret = acl.op.create_handle("Relu", [desc], [desc], attr)  # found: leak-op-handle
casting, ret = acl.op.create_handle_for_cast(desc, desc, 0)  # found: leak-op-handle
channel = acl.media.dvpp_create_channel_desc()  # found: leak-channel-desc
pic = acl.media.dvpp_create_pic_desc()  # found: leak-pic-desc
roi = acl.media.dvpp_create_roi_config(0, 15, 0, 15)  # found: leak-roi-config
resize = acl.media.dvpp_create_resize_config()  # found: leak-resize-config
jpege = acl.media.dvpp_create_jpege_config()  # found: leak-jpege-config
start = acl.fv.create_init_para(10)  # found: leak-fv-init-para
ids = acl.fv.create_repo_range(0, 1, 0, 1)  # found: leak-fv-repo-range
feature = acl.fv.create_feature_info(0, 0, 0, 36, 1, memory, 36)  # found: leak-fv-feature-info
"""


def test_what_is_left_behind_is_told_with_the_line_that_made_it(check_text, tmp_path):
    value = TensorProto.FLOAT, [64]
    make_model(tmp_path, [helper.make_node("Neg", ["x"], ["y"])], [("x", *value)], [("y", *value)])
    checked = check_text(LEAKS)
    assert checked.done.returncode == 99, checked.done.stderr
    found = sorted(p for p in checked.places() if p[0].startswith("leak-"))
    assert found == marked(tmp_path / "app.py")
    assert {f["kind"] for f in checked.findings} == {kind for kind, _ in found}


def documented_kinds():
    with open(os.path.join(ROOT, "docs", "check.md"), encoding="utf-8") as file:
        cells = re.findall(r"^\| (`[^|]*`) \|", file.read().partition("## ")[0], re.M)
    return {kind for cell in cells for kind in re.findall(r"`([\w-]+)", cell)}


def test_every_kind_of_finding_of_the_page_is_provoked_by_a_program():
    programs = [os.path.join(EXAMPLES, "check", name) for name in ("wrong.py", "wrong.cpp")]
    provoked = {kind for path in programs for kind, _ in marked(path)}
    documented = documented_kinds()
    assert len(documented) > 14
    # above; test_examples.py, test_lenient.py
    elsewhere = {"leak-", "not-checked", "no-init", "card-may-refuse"}
    assert documented - provoked == elsewhere


def test_without_it_there_is_nothing_of_the_checker_in_a_program(tmp_path):
    """It stands in front of the libraries (LD_PRELOAD): they have no hook to step over, and are the
    same files with and without it."""
    libraries = set(glob.glob(os.path.join(BUILD, "lib", "*.so")))
    libraries |= set(glob.glob(os.path.join(BUILD, "python", "**", "*.so"), recursive=True))
    others = {path for path in libraries if os.path.basename(path) != "libanynpu_check.so"}
    assert len(others) >= 10 and len(others) < len(libraries)
    for path in others:
        with open(path, "rb") as file:
            data = file.read()
        # Its namespace; its file, as a library that loads it has the name.
        for trace in (b"6anynpu5check", b"libanynpu_check.so\0"):
            assert trace not in data, (path, trace)
    program = ("import acl; acl.init(); acl.rt.set_device(0); a, _ = acl.rt.malloc(64, 0); "
               "acl.rt.free(a); print('anynpu_check' in open('/proc/self/maps').read())")
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=60, env=plain, cwd=tmp_path)
    assert done.stdout.split() == ["False"], done.stderr
