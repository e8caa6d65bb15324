# SPDX-License-Identifier: Apache-2.0
"""A failing call says why on stderr: programs print the number and nothing else."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from build_tree import BUILD

FIRST = "anynpu: aclrtMemcpy failed with 107000 (ACL_ERROR_RT_PARAM_INVALID): src is 0 (null); "
START = "import acl\nassert acl.init() == 0 and acl.rt.set_device(0) == 0\n"


def lines(folder, text, errors=None, config=None):
    """The lines on stderr of a Python program in app.py."""
    path = folder / "app.py"
    path.write_text(textwrap.dedent(text))
    if config is not None:
        (folder / "acl.json").write_text(json.dumps(config))
    env = {name: value for name, value in os.environ.items() if name != "ANYNPU_ERRORS"}
    if errors is not None:
        env["ANYNPU_ERRORS"] = errors
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300,
                          env=env, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_the_line_has_the_function_the_code_the_reason_and_the_place(tmp_path):
    found = lines(tmp_path, START + """
def copy(to):
    return acl.rt.memcpy(to, 16, 0, 16, 1)

block, ret = acl.rt.malloc(16, 0)
print("memcpy", copy(block))
""")
    assert found == [FIRST + f"pass the address of 16 bytes ({tmp_path}/app.py:5)"]


def test_a_call_that_waits_names_its_line_too(tmp_path):
    (found,) = lines(tmp_path, START + "\n\nacl.rt.synchronize_stream(1234)\n")
    assert "aclrtSynchronizeStream failed with 107017 (ACL_ERROR_RT_INVALID_HANDLE)" in found
    assert found.endswith(f"({tmp_path}/app.py:5)")


MANY = START + """
block, ret = acl.rt.malloc(16, 0)
for i in range(50):
    acl.rt.memcpy(block, 16, 0, i + 1, 1)       # the same mistake with other numbers
acl.rt.memcpy(block, 16, block, 17, 3)          # another one
"""


def test_the_same_cause_is_told_once(tmp_path):
    first, second = lines(tmp_path, MANY)
    assert first.startswith(FIRST) and "count is 17, but dst has room for 16" in second


@pytest.mark.parametrize("errors,config,count", [
    ("off", None, 0), ("all", None, 51), (None, {"anynpu_errors": "off"}, 0),
    (None, {"anynpu_errors": "all"}, 51), ("first", {"anynpu_errors": "all"}, 2),
    ("no such word", None, 2)])
def test_the_variable_and_the_configuration_choose(tmp_path, errors, config, count):
    text = MANY.replace("acl.init()", "acl.init('acl.json')") if config else MANY
    assert len(lines(tmp_path, text, errors, config)) == count


def test_a_wrong_word_in_the_configuration_is_refused(tmp_path):
    (line,) = lines(tmp_path, "import acl\nassert acl.init('acl.json') == 100008\n",
                    config={"anynpu_errors": "some"})
    assert "'anynpu_errors'" in line and "off" in line


def test_at_most_twenty_lines_are_printed(tmp_path):
    found = lines(tmp_path, START + """
for name in sorted(dir(acl.rt)):
    if name.startswith("destroy"):
        for value in (0, 77, 1 << 62):
            getattr(acl.rt, name)(value)
for name in ("get_stream_attribute", "get_event_id", "query_event", "stream_query",
             "stream_get_priority", "stream_get_flags", "query_event_status"):
    try:
        getattr(acl.rt, name)(77)
    except (AttributeError, TypeError):
        pass
""")
    assert len(found) == 21, "\n".join(found)
    assert found[-1] == "anynpu: 20 failures were shown; ANYNPU_ERRORS=all shows the others"


ANSWERS = START + """
assert acl.init() == 100002
stream, ret = acl.rt.create_stream()
import threading
assert acl.rt.process_report(1) == 107012         # a loop that is there before the subscription
assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
for _ in range(3):
    assert acl.rt.process_report(1) != 0          # nothing to report yet
context, ret = acl.rt.create_context(0)
assert acl.rt.destroy_context(context) == 0
def asks():
    assert acl.rt.get_device()[1] == 107002 and acl.rt.get_context()[1] == 107002
thread = threading.Thread(target=asks)
thread.start()
thread.join()
assert acl.get_recent_err_msg() != ""             # the sentence is there all the same
assert acl.finalize() == 0
acl.rt.destroy_stream(stream)                     # in a destructor, too late
acl.rt.reset_device(0)
assert acl.finalize() == 100037
"""


def test_answers_are_no_errors(tmp_path):
    assert lines(tmp_path, ANSWERS) == []


def test_probing_a_model_for_a_tensor_prints_nothing(tmp_path):
    from model_datasets import convert
    from onnx import TensorProto, helper
    from onnx_models import network
    net = network([helper.make_node("Relu", ["x"], ["y"])], [("x", TensorProto.FLOAT, [2])],
                  [("y", TensorProto.FLOAT, [2])])
    path = convert(tmp_path, "net", net)
    assert lines(tmp_path, START + f"""
model, ret = acl.mdl.load_from_file({path!r})
desc = acl.mdl.create_desc()
assert acl.mdl.get_desc(desc, model) == 0
assert acl.mdl.get_input_index_by_name(desc, "ascend_mbatch_shape_data")[1] == 100000
""") == []


def test_a_failure_that_shows_later_names_the_call_that_caused_it(tmp_path):
    (found,) = lines(tmp_path, START + """
stream, ret = acl.rt.create_stream()
host, ret = acl.rt.malloc_host(64)
assert acl.rt.memcpy_async(host, 64, host, 64, 0, stream) == 0
assert acl.rt.synchronize_stream(stream) != 0
""")
    assert found.startswith("anynpu: aclrtSynchronizeStream failed with")
    assert "in task 1 (memcpy_async host to host) of stream" in found
    assert found.endswith(f"({tmp_path}/app.py:7)")


def test_an_execution_that_fails_on_a_stream_names_its_call(tmp_path):
    import numpy as np
    from model_datasets import convert
    from onnx import TensorProto, helper, numpy_helper
    from onnx_models import network
    row = numpy_helper.from_array(np.zeros((3, 2), np.float32), "row")
    net = network([helper.make_node("Gather", ["row", "i"], ["y"])],
                  [("i", TensorProto.INT64, [1])], [("y", TensorProto.FLOAT, [1, 2])], [row])
    path = convert(tmp_path, "net", net)
    (found,) = lines(tmp_path, START + f"""
model, ret = acl.mdl.load_from_file({path!r})
sets = []
for size, value in ((8, 9), (8, 0)):
    block, ret = acl.rt.malloc(size, 0)
    raw = value.to_bytes(8, "little")
    acl.rt.memcpy(block, 8, acl.util.bytes_to_ptr(raw), 8, 1)
    sets.append(acl.mdl.create_dataset())
    acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(block, size))
stream, ret = acl.rt.create_stream()
assert acl.mdl.execute_async(model, *sets, stream) == 0
assert acl.rt.synchronize_stream(stream) != 0
""")
    assert "aclmdlExecuteAsync" in found, found


def test_a_child_of_a_fork_prints_as_well(tmp_path):
    found = lines(tmp_path, START + """
import os
if os.fork() == 0:
    acl.rt.malloc(16, 0)
    os._exit(0)
os.wait()
""")
    assert len(found) == 1 and "aclrtMalloc failed with 100001" in found[0]


C_PROGRAM = r"""
#include <stdio.h>
#include "acl/acl.h"
int main(void) {
  if (aclGetRecentErrMsg() != NULL) return 1;
  aclInit(NULL);
  aclrtSetDevice(0);
  void* block = NULL;
  if (aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) return 2;
  if (aclGetRecentErrMsg() == NULL) return 3;
  if (aclGetRecentErrMsg() != NULL) return 4;
  aclrtSetDevice(99);
  return aclFinalize();
}
"""


def test_programs_in_c_print_lines_and_have_no_message_without_a_failure(tmp_path):
    (tmp_path / "app.c").write_text(C_PROGRAM)
    subprocess.run(["cc", "-I", f"{BUILD}/include", str(tmp_path / "app.c"), "-o",
                    str(tmp_path / "app"), "-L", f"{BUILD}/lib", "-lascendcl"], check=True)
    env = {**os.environ, "LD_LIBRARY_PATH": f"{BUILD}/lib"}
    env.pop("ANYNPU_ERRORS", None)
    done = subprocess.run([str(tmp_path / "app")], capture_output=True, text=True, timeout=300,
                          env=env)
    assert done.returncode == 0, done.stderr
    first, second = done.stderr.splitlines()
    assert first == ("anynpu: aclrtMalloc failed with 107000 (ACL_ERROR_RT_PARAM_INVALID): the "
                     "size is 0; ask for at least one byte")
    assert second.startswith("anynpu: aclrtSetDevice failed with 107001 ")
