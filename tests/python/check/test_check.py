# SPDX-License-Identifier: Apache-2.0
"""`anynpu check`: each sort of mistake is found at its line, nothing in programs without one."""
import json
import os
import subprocess
import sys

import pytest
from build_tree import BUILD
from conftest import EXAMPLES, marked


def test_every_mistake_of_the_example_is_found_at_its_line(check):
    path = os.path.join(EXAMPLES, "check", "wrong.py")
    checked = check(path)
    assert checked.places() == marked(path)
    assert checked.done.returncode == checked.report["exit_code"] == 99
    assert not checked.report["cut_short"]
    double = next(f for f in checked.findings if f["kind"] == "double-free")
    assert [p["label"] for p in double["places"]] == ["freed again", "freed", "created"]
    assert all(p["frames"][0]["file"] == path for p in double["places"])


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    source = os.path.join(EXAMPLES, "check", "wrong.cpp")
    program = tmp_path_factory.mktemp("check") / "wrong"
    tree = os.path.join(BUILD, "ascend")
    subprocess.run(["g++", "-g", "-O0", source, f"-I{tree}/include", f"-L{tree}/lib64",
                    f"-Wl,-rpath,{tree}/lib64", "-lascendcl", "-o", str(program)], check=True)
    return source, str(program)


@pytest.mark.parametrize("guard", [False, True])
def test_mistakes_of_a_program_in_cpp_have_file_and_line(check, compiled, guard):
    source, program = compiled
    checked = check(program, options=["--guard"] if guard else [])
    assert checked.places() == marked(source)
    assert checked.done.returncode == 99, checked.done.stderr
    assert all(f["places"][0]["frames"][0]["file"] == source for f in checked.findings)
    assert "aclrt" in " ".join(f["message"] for f in checked.findings)


def test_a_plain_load_before_the_wait_is_found_unless_nothing_is_guarded(check_text):
    text = """
        import numpy as np
        size = 1 << 16
        memory, _ = acl.rt.malloc(size, 0)
        host, _ = acl.rt.malloc_host(size)
        assert acl.rt.memset(memory, size, 5, size) == 0
        view = acl.util.ptr_to_numpy(host, (size,), 2)
        view[:] = 1
        stream, _ = acl.rt.create_stream()
        assert acl.rt.memcpy_async(host, size, memory, size, 2, stream) == 0
        before = int(view[size // 2])
        assert acl.rt.synchronize_stream(stream) == 0
        assert view.min() == view.max() == 5
        assert acl.rt.memcpy_async(host, size, memory, size, 2, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert view.min() == view.max() == 5
        assert before in (1, 5)
        assert acl.rt.destroy_stream(stream) == acl.rt.free(memory) == acl.rt.free_host(host) == 0
    """
    guarded = check_text(text.replace("in (1, 5)", "== 1"), options=["--guard"])
    assert guarded.places() == [("read-before-synchronize", 13)], guarded.done.stderr
    usual = check_text(text.replace("in (1, 5)", "== 5"))
    assert usual.places() == [("read-before-synchronize", 13)], usual.done.stderr
    assert check_text(text, options=["--no-guard"]).places() == []


def test_order_by_events_and_callbacks_is_understood(check_text):
    checked = check_text("""
        import threading
        size = 4096
        memory, _ = acl.rt.malloc(size, 0)
        host, _ = acl.rt.malloc_host(size)
        one, _ = acl.rt.create_stream()
        two, _ = acl.rt.create_stream()
        event, _ = acl.rt.create_event()
        # Ordered by an event between streams, and by the wait for another event.
        assert acl.rt.memset_async(memory, size, 1, size, one) == 0
        assert acl.rt.record_event(event, one) == 0
        assert acl.rt.stream_wait_event(two, event) == 0
        assert acl.rt.memcpy_async(host, size, memory, size, 2, two) == 0
        assert acl.rt.record_event(event, two) == 0
        assert acl.rt.synchronize_event(event) == 0
        assert acl.util.ptr_to_bytes(host, 4) == bytes([1] * 4)
        # A callback comes after what was queued before it.
        running = [True]
        seen = []
        def reports(context):
            acl.rt.set_context(context[0])
            while running[0]:
                acl.rt.process_report(50)
        context, _ = acl.rt.get_context()
        thread, _ = acl.util.start_thread(reports, [context])
        assert acl.rt.subscribe_report(thread, one) == 0
        assert acl.rt.memcpy_async(host, size, memory, size, 2, one) == 0
        def read(data):
            seen.append(acl.util.ptr_to_bytes(host, 4))
        assert acl.rt.launch_callback(read, None, 1, one) == 0
        assert acl.rt.synchronize_stream(one) == 0
        assert acl.rt.unsubscribe_report(thread, one) == 0
        running[0] = False
        acl.util.stop_thread(thread)
        assert len(seen) == 1
        # A query that says `complete` is a wait.
        assert acl.rt.memset_async(memory, size, 3, size, two) == 0
        while acl.rt.stream_query(two) != (0, 0):
            pass
        assert acl.rt.memcpy(host, size, memory, size, 2) == 0
        for stream in (one, two):
            assert acl.rt.destroy_stream(stream) == 0
        assert acl.rt.destroy_event(event) == acl.rt.free(memory) == acl.rt.free_host(host) == 0
    """)
    assert checked.done.returncode == 0, checked.done.stderr
    assert checked.places() == []


def make_model(folder):
    """net.om: what comes in, negated."""
    import onnx
    from onnx import TensorProto, helper
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
              folder / "net.onnx")
    subprocess.run(["atc", "--model=net.onnx", "--framework=5", "--output=net",
                    "--soc_version=Ascend310P3"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


def test_a_model_that_is_read_too_early_and_used_too_late(check_text, tmp_path):
    make_model(tmp_path)
    checked = check_text("""
        model, ret = acl.mdl.load_from_file("net.om")
        buffers, sets, memory = [], [], []
        for _ in range(2):
            memory.append(acl.rt.malloc(256, 0)[0])
            buffers.append(acl.create_data_buffer(memory[-1], 256))
            sets.append(acl.mdl.create_dataset())
            acl.mdl.add_dataset_buffer(sets[-1], buffers[-1])
        stream, _ = acl.rt.create_stream()
        host, _ = acl.rt.malloc_host(256)
        assert acl.rt.memset(memory[0], 256, 0, 256) == 0
        assert acl.mdl.execute_async(model, *sets, stream) == 0
        assert acl.rt.memcpy(host, 256, memory[1], 256, 2) == 0  # found: read-before-synchronize
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.memcpy(host, 256, memory[1], 256, 2) == 0
        assert acl.rt.free(memory[1]) == 0
        acl.mdl.execute(model, *sets)  # found: use-after-free
        assert acl.mdl.unload(model) == 0
        ret = acl.mdl.execute(model, *sets)  # found: use-after-destroy # found: use-after-free
        ret = acl.mdl.unload(model)  # found: double-free
        for i in range(2):
            assert acl.mdl.destroy_dataset(sets[i]) == acl.destroy_data_buffer(buffers[i]) == 0
        assert acl.rt.free(memory[0]) == acl.rt.free_host(host) == 0
        assert acl.rt.destroy_stream(stream) == 0
    """)
    assert checked.places() == marked(tmp_path / "app.py"), checked.done.stderr


def test_the_models_of_a_bundle_go_with_it(check_text, tmp_path):
    make_model(tmp_path)
    subprocess.run(["anynpu", "bundle", "net.om", "net.om", "net.om", "-o", "all.om"], cwd=tmp_path,
                   check=True)
    checked = check_text("""
        bundle, ret = acl.mdl.bundle_load_from_file("all.om")
        models = [acl.mdl.bundle_get_model_id(bundle, i)[0] for i in range(3)]
        assert acl.mdl.unload(models[0]) == 0
        assert acl.mdl.bundle_unload(bundle) == 0
        desc = acl.mdl.create_desc()
        ret = acl.mdl.get_desc(desc, models[1])  # found: use-after-destroy
        ret = acl.mdl.unload(models[2])  # found: double-free
        ret = acl.mdl.bundle_unload(bundle)  # found: double-free
        assert acl.mdl.destroy_desc(desc) == 0
        left, ret = acl.mdl.bundle_load_from_file("all.om")  # found: leak-bundle
        model, ret = acl.mdl.bundle_get_model_id(left, 0)
    """)
    assert checked.places() == marked(tmp_path / "app.py"), checked.done.stderr


def test_calls_in_callbacks_of_the_program_are_seen(check_text):
    checked = check_text("""
        stream, _ = acl.rt.create_stream()
        made = [acl.rt.create_event()[0] for _ in range(2)]
        running = [True]
        def reports(context):
            acl.rt.set_context(context[0])
            while running[0]:
                acl.rt.process_report(50)
        thread, _ = acl.util.start_thread(reports, [acl.rt.get_context()[0]])
        assert acl.rt.subscribe_report(thread, stream) == 0
        def give_back(data):
            assert acl.rt.destroy_event(made[0]) == 0
            acl.rt.create_event()
        assert acl.rt.launch_callback(give_back, None, 1, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.unsubscribe_report(thread, stream) == 0
        running[0] = False
        acl.util.stop_thread(thread)
        assert acl.rt.destroy_event(made[1]) == acl.rt.destroy_stream(stream) == 0
    """)
    assert checked.places() == [("leak-event", 15)], checked.done.stderr


def test_leaks_of_one_line_are_one_finding_with_their_bytes(check_text):
    checked = check_text("for _ in range(5): acl.rt.malloc(1000, 0)\n")
    (leak,) = checked.findings
    assert (leak["kind"], leak["count"], leak["bytes"]) == ("leak-device-memory", 5, 5000)


def test_addresses_and_registered_memory_are_given_back_once(check_text):
    checked = check_text("""
        import numpy as np
        own = np.zeros(8192, np.uint8); start = own.ctypes.data + -own.ctypes.data % 4096
        address, ret = acl.rt.reserve_mem_address(1 << 21, 0, 0, 0)
        assert ret == 0, acl.get_recent_err_msg()
        device, ret = acl.rt.host_register(start, 4096, 0)
        assert ret == 0 and acl.rt.host_unregister(start) == 0
        ret = acl.rt.host_unregister(start)
        device, ret = acl.rt.host_register(start, 4096, 0)
    """)
    assert checked.places() == [("double-free", 10), ("leak-registered-memory", 11),
                                ("leak-reserved-address", 6)], checked.done.stderr


def test_suppressions_hide_findings_by_kind_place_and_function(check_text, tmp_path):
    text = """
        def load():
            acl.rt.create_event()
        load()
        acl.mdl.create_desc()
    """
    rules = tmp_path / "rules.txt"
    for lines, left in (("leak-event */app.py:*  # known\n", ["leak-model-desc"]),
                        ("leak-* * load\n", ["leak-model-desc"]), ("leak-* *\n", []),
                        ("# nothing\n\n", ["leak-event", "leak-model-desc"])):
        rules.write_text(lines)
        checked = check_text(text, options=["--suppress", str(rules)])
        assert checked.kinds() == left
        assert checked.report["suppressed"] == 2 - len(left)
        assert checked.done.returncode == (99 if left else 0)
    rules.write_text("leak-event\n")
    assert check_text(text, options=["--suppress", str(rules)]).done.returncode == 2
    assert check_text(text, options=["--suppress", "absent.txt"]).done.returncode == 2


def test_exit_codes_are_the_programs_own_first(check, tmp_path):
    program = tmp_path / "app.py"
    for text, options, code in (("import sys; sys.exit(3)", [], 3), ("pass", [], 0),
                                ("import os; os.kill(os.getpid(), 9)", [], 137),
                                ("import acl; acl.init()", [], 99),
                                ("import acl; acl.init()", ["--exit-code", "7"], 7),
                                ("import acl, os; acl.init(); os._exit(0)", [], 99)):
        program.write_text(text + "\n")
        checked = check(str(program), options=options)
        assert checked.done.returncode == code, text
        assert checked.report["cut_short"] == []
    program.write_text("import acl, os\nacl.init()\nacl.rt.free(0)\nos.kill(os.getpid(), 9)\n")
    killed = check(str(program))
    assert killed.done.returncode == 137 and len(killed.report["cut_short"]) == 1
    assert killed.kinds() == ["ignored-error"]
    assert check("absent.py").done.returncode == 2
    assert check("./absent").done.returncode == 2


def test_the_text_report_ends_with_a_count(tmp_path):
    (tmp_path / "app.py").write_text("import acl\nacl.init()\n")
    done = subprocess.run(["anynpu", "check", "app.py"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith("1. not-finalized: the program ended without "
                                                  "acl.finalize")
    assert done.stderr.splitlines()[1].split() == ["initialised", "app.py:2", "in", "<module>"] \
        or "app.py:2 in <module>" in done.stderr
    assert done.stderr.splitlines()[-1] == "anynpu check: 1 finding in app.py"


def test_programs_of_several_processes_are_checked_each(check, tmp_path):
    (tmp_path / "child.py").write_text("import acl\nacl.init()\n")
    (tmp_path / "app.py").write_text("import subprocess, sys\n"
                                     "subprocess.run([sys.executable, 'child.py'])\n")
    checked = check(str(tmp_path / "app.py"))
    assert checked.places() == [("not-finalized", 2)]


def test_the_guides_blocks_are_clean_but_for_what_they_leave_behind(check, tmp_path):
    """Leaks and devices left in use are slips of the pages, or of blocks taken out of them."""
    guide = os.path.join(os.path.dirname(EXAMPLES), "tests", "python", "guide")
    checked = check(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                    "--basetemp", str(tmp_path / "inner"), "test_04_start_and_copies.py",
                    "test_07_asynchronous_models.py", "test_07_streams_and_waiting.py",
                    "test_06_single_operators.py", cwd=guide)
    assert checked.done.returncode == 99, checked.done.stdout[-2000:]
    others = [f for f in checked.findings if not f["kind"].startswith(("leak-", "not-"))]
    assert others == [], json.dumps(others, indent=1)


def test_the_tables_of_the_checker_name_functions_that_exist():
    import re
    root = os.path.dirname(EXAMPLES)
    sys.path.insert(0, os.path.join(root, "tools", "gen_pyacl"))
    import table
    rows = table.read_api(table.read_libraries(os.path.join(root, "src", "api")))
    known = {row.c_function for row in rows}
    python = {row.python for row in rows}
    for name, pattern in (("lifetime_table.cpp", r'\{"((?:acl|hi_)\w+)"'),
                          ("hooks.cpp", r'\{"(\w+)", \{')):
        with open(os.path.join(root, "src", "check", name), encoding="utf-8") as file:
            text = file.read()
        named = set(re.findall(pattern, text))
        assert len(named) > 50
        assert named <= known, named - known
        assert set(re.findall(r'"(acl\.[\w.]+)"', text)) <= python


# Nothing that a program must end.
NOT_TRACKED = {
    # Functions of the program and names, kept until the process ends.
    "aclopCreateKernel", "aclopLoad", "aclopRegisterCompileFunc", "aclrtAllocatorRegister",
    "aclFinalizeCallbackRegister", "aclInitCallbackRegister", "aclrtExceptionInfoCallbackRegister",
    "aclrtSnapShotCallbackRegister",
    # What they make belongs to another object and ends with it.
    "aclrtIpcMemImportByKey", "aclmdlRICondHandleCreate",
    # Of the driver: its codes are not those of the checked functions.
    "halHostRegister",
    # Always refused here (docs/api_coverage.md).
    "rtDevBinaryRegister", "rtFunctionRegister",
}


def test_every_function_that_creates_something_is_in_the_table():
    import re
    root = os.path.dirname(EXAMPLES)
    sys.path.insert(0, os.path.join(root, "tools", "gen_pyacl"))
    import table
    rows = table.read_api(table.read_libraries(os.path.join(root, "src", "api")))
    makers = {row.c_function for row in rows if row.status == "works" and re.search(
        r"Create|Malloc|Load|create_|malloc|Reserve|(Import(From|By)|(?<!Un)Register(V2)?$)",
        row.c_function) and not re.search(r"(?<!And)Get|UnLoad", row.c_function)}
    with open(os.path.join(root, "src", "check", "lifetime_table.cpp"), encoding="utf-8") as file:
        named = set(re.findall(r'\{"(\w+)", &k\w+, kCreate', file.read()))
    assert makers - named - NOT_TRACKED == set()
