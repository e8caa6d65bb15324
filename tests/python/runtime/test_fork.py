# SPDX-License-Identifier: Apache-2.0
"""fork: a child of a parent that only imported works; a child of one that called the library gets a
code and a sentence, and never hangs. Importing starts no thread and opens nothing."""
import pytest
from program import run

WORK = """
def work(value=0):
    codes = [acl.init(), acl.rt.set_device(0)]
    memory, ret = acl.rt.malloc(64, 0)
    stream, ret = acl.rt.create_stream()
    codes += [ret, acl.rt.memset_async(memory, 64, value + 1, 64, stream),
              acl.rt.synchronize_stream(stream)]
    data = acl.util.ptr_to_bytes(memory, 64)
    codes += [acl.rt.destroy_stream(stream), acl.rt.free(memory), acl.rt.reset_device(0),
              acl.finalize()]
    return (codes == [0] * 9 and data == bytes([value + 1]) * 64)
"""


def test_importing_starts_no_thread_and_opens_no_file():
    assert run("""
        import os
        import numpy
        def state():
            return len(os.listdir("/proc/self/task")), sorted(os.listdir("/proc/self/fd"))
        before = state()
        import acl
        print(state() == before)
        acl.rt.get_run_mode(), acl.get_soc_name()
        print(state() == before)
        """) == ["True", "True"]


def test_a_child_of_a_parent_that_only_imported_works():
    assert run("import os\nimport acl\n" + WORK + """
child = os.fork()
if child == 0:
    os._exit(0 if work() else 1)
print(os.waitpid(child, 0)[1])
print(work(), "the parent after its child")
""")[:2] == ["0", "True"]


def test_a_pool_of_processes_of_a_parent_that_only_imported_works():
    assert run("import multiprocessing\nimport acl\n" + WORK + """
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, range(6)) == [True] * 6)
""") == ["True"]


@pytest.mark.parametrize("use", [
    "acl.init()",
    "acl.init(), acl.rt.set_device(0), acl.rt.create_stream()",
    "acl.rt.malloc_host(64)",
    "acl.init(), acl.rt.set_device(0), acl.finalize()",
])
def test_a_child_of_a_parent_that_called_the_library_gets_a_code_and_a_sentence(use):
    assert run(f"""
        import os
        import acl
        {use}
        child = os.fork()
        if child == 0:
            codes = [acl.init(), acl.rt.set_device(0), acl.rt.malloc(64, 0)[1],
                     acl.rt.synchronize_device(), acl.finalize(), acl.rt.malloc_host(64)[1]]
            sentence = acl.get_recent_err_msg()
            os._exit(0 if codes == [100001] * 6 and "fork" in sentence else 1)
        print(os.waitpid(child, 0)[1])
        """) == ["0"]


def test_a_child_may_fork_while_the_parent_works():
    assert run("""
        import os
        import acl
        acl.init()
        acl.rt.set_device(0)
        memory, _ = acl.rt.malloc(1 << 20, 0)
        for i in range(200):
            acl.rt.memset_async(memory, 1 << 20, i, 1 << 20, 0)
            if i % 20 == 0:
                child = os.fork()
                if child == 0:
                    os._exit(0 if acl.rt.synchronize_stream(0) == 100001 else 1)
                assert os.waitpid(child, 0)[1] == 0
        print(acl.rt.synchronize_stream(0), acl.util.ptr_to_bytes(memory, 1)[0])
        """) == ["0", "199"]


def test_a_child_ends_normally_without_hanging_in_destructors():
    assert run("""
        import os
        import sys
        import acl
        acl.init()
        acl.rt.set_device(0)
        stream, _ = acl.rt.create_stream()
        acl.rt.memset_async(acl.rt.malloc(1 << 20, 0)[0], 1 << 20, 1, 1 << 20, stream)
        child = os.fork()
        if child == 0:
            sys.exit(3)  # through all of Python's and the library's exit functions
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """) == ["3"]


def test_a_new_program_started_by_the_parent_works():
    assert run("""
        import subprocess
        import sys
        import acl
        acl.init()
        acl.rt.set_device(0)
        other = "import acl; print(acl.init(), acl.rt.set_device(0))"
        print(subprocess.run([sys.executable, "-c", other], capture_output=True, text=True).stdout)
        """) == ["0", "0"]
