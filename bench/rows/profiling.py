# SPDX-License-Identifier: Apache-2.0
"""What profiling costs: a mark from Python, a model under full profiling, and the export and the
page of a million events."""

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from harness import Estimate, ns_per_call, ratio_of, value_of

import acl

MARKS = 20000
EVENTS = 1_000_000
EXECUTIONS = 5
FULL = 0x1 | 0x2 | 0x80 | 0x100 | 0x1000  # calls, tasks with shapes, marks, runtime, memory


class Session:
    def __init__(self, folder, bits):
        assert acl.prof.init(folder) == 0
        self.config = acl.prof.create_config([0], 0, 0, bits)
        assert acl.prof.start(self.config) == 0

    def end(self):
        assert acl.prof.stop(self.config) == 0
        acl.prof.destroy_config(self.config)
        assert acl.prof.finalize() == 0


def mark_row(report, folder):
    session = Session(folder, 0x80)
    stamp = acl.prof.create_stamp()
    acl.prof.set_stamp_trace_message(stamp, "mark", 4)
    measured = value_of(lambda: ns_per_call(MARKS, acl.prof.mark, stamp))
    report.add("profiling: acl.prof.mark(stamp)", 1000, "ns", measured)
    acl.prof.destroy_stamp(stamp)
    session.end()


def model_row(report, folder, path):
    model, ret = acl.mdl.load_from_file(path)
    assert ret == 0
    desc = acl.mdl.create_desc()
    acl.mdl.get_desc(desc, model)
    sides = []
    for count, size_of in ((acl.mdl.get_num_inputs, acl.mdl.get_input_size_by_index),
                           (acl.mdl.get_num_outputs, acl.mdl.get_output_size_by_index)):
        dataset = acl.mdl.create_dataset()
        for i in range(count(desc)):
            size = size_of(desc, i)
            memory, ret = acl.rt.malloc(size, 0)
            acl.rt.memset(memory, size, 0, size)
            acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory, size))
        sides.append(dataset)

    def run():
        begin = time.perf_counter_ns()
        assert acl.mdl.execute(model, *sides) == 0
        return time.perf_counter_ns() - begin

    spent = {True: 0, False: 0}  # CPU time of all threads, the collector's among them

    def plain(kind=False):
        run()  # the first events of a session make its rings
        begin = time.process_time_ns()
        # The fastest of a few: what else the machine does only adds.
        taken = min(run() for _ in range(EXECUTIONS))
        spent[kind] += time.process_time_ns() - begin
        return taken

    def profiled():
        session = Session(folder, FULL)
        taken = plain(True)
        session.end()
        return taken

    measured = ratio_of(profiled, plain)
    report.add("profiling: ResNet-50 with full profiling, against without", 1.01, "times", measured,
               f"fastest of {EXECUTIONS} a side; CPU time {spent[True] / spent[False]:.3f} times")


TORCH_WORKER = """
import os
import sys
import torch.profiler as peer
sys.path.insert(0, {bench!r})
from harness import ns_per_call

def mark():
    with peer.record_function("mark"):
        pass

with peer.profile(activities=[peer.ProfilerActivity.CPU]):
    for _ in sys.stdin:
        print(ns_per_call({marks}, mark), flush=True)
    os._exit(0)  # making something of what was recorded takes minutes and gigabytes
"""


@contextlib.contextmanager
def torch_marks():
    """A function that times a mark of torch's profiler in a process of its own: of this Python, or
    of the system's, for which Debian packages torch. None where neither has it."""
    bench = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    bare = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import torch"], env=bare, capture_output=True,
                          cwd="/").returncode == 0:
            break
    else:
        yield None
        return
    text = TORCH_WORKER.format(bench=bench, marks=MARKS // 10)
    with subprocess.Popen([python, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env=bare, cwd="/") as worker:
        def timed():
            worker.stdin.write("again\n")
            worker.stdin.flush()
            return float(worker.stdout.readline())

        yield timed
        worker.stdin.close()


def peer_marks(report, folder):
    """A mark of ours against an instant of others, alternating in one process."""
    session = Session(folder, 0x80)
    stamp = acl.prof.create_stamp()
    acl.prof.set_stamp_trace_message(stamp, "mark", 4)

    def ours():
        return ns_per_call(MARKS, acl.prof.mark, stamp)

    what = "profiling: acl.prof.mark(stamp), against {}"
    try:
        from viztracer import VizTracer
        tracer = VizTracer(verbose=0, tracer_entries=4 * MARKS, log_sparse=True)
        tracer.start()
        # Its ring keeps the last entries and is never full.
        report.add(what.format("viztracer's log_instant"), 1, "times",
                   ratio_of(ours, lambda: ns_per_call(MARKS, tracer.log_instant, "mark")))
        tracer.stop()
        tracer.clear()
    except ImportError:
        report.skip(what.format("viztracer's log_instant"), "viztracer is not installed")
    with torch_marks() as theirs:
        if theirs:
            report.add(what.format("torch's record_function"), 1, "times", ratio_of(ours, theirs))
        else:
            report.skip(what.format("torch's record_function"),
                        "torch is not installed; Debian has it as python3-torch")
    acl.prof.destroy_stamp(stamp)
    session.end()


def peer_model(report, folder, onnx):
    """What onnxruntime's own profiling costs it, in the same run and with as many threads."""
    what = "profiling: ResNet-50 on onnxruntime with its profiling, against without"
    try:
        import numpy
        import onnxruntime
    except ImportError:
        report.skip(what, "onnxruntime is not installed")
        return

    def session(profiled):
        options = onnxruntime.SessionOptions()
        options.enable_profiling = profiled
        options.profile_file_prefix = os.path.join(folder, "onnxruntime")
        options.intra_op_num_threads = 2
        return onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])

    one = {i.name: numpy.zeros([d if isinstance(d, int) else 1 for d in i.shape], numpy.float32)
           for i in session(False).get_inputs()}
    sides = [session(True), session(False)]

    def timed(side):
        begin = time.perf_counter_ns()
        side.run(None, one)
        return time.perf_counter_ns() - begin

    def fastest(side):
        return min(timed(side) for _ in range(EXECUTIONS))

    report.add(what, None, "times", ratio_of(lambda: fastest(sides[0]), lambda: fastest(sides[1])),
               f"fastest of {EXECUTIONS} a side")


def run_child(command):
    """Seconds, peak memory and CPU seconds of a child."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return (time.perf_counter() - begin, usage.ru_maxrss / 1024,
            usage.ru_utime + usage.ru_stime)


def million(folder):
    """A recording of a million events: half of them marks, half their calls."""
    session = Session(folder, 0x1 | 0x80)
    stamp = acl.prof.create_stamp()
    acl.prof.set_stamp_trace_message(stamp, "mark", 4)
    for _ in range(EVENTS // 2):
        acl.prof.mark(stamp)
    acl.prof.destroy_stamp(stamp)
    session.end()
    return next(os.path.join(folder, n) for n in os.listdir(folder) if n.startswith("PROF_"))


def export_row(report, path):
    command = ["msprof", "--export=on", f"--output={path}"]
    seconds, megabytes, cpu = zip(*(run_child(command) for _ in range(3)))
    report.add("profiling: export of 1,000,000 events", 10, "s",
               Estimate(sorted(seconds)[1], min(seconds), max(seconds)),
               f"CPU time {min(cpu):.1f} s")
    report.add("profiling: memory of that export", 1024, "MB", max(megabytes))


def page_row(report, folder, path):
    page = os.path.join(folder, "report.html")
    made, _, _ = run_child(["anynpu", "report", path, "-o", page])
    note = f"made in {made:.1f} s, {os.path.getsize(page) / 1e6:.0f} MB"
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        report.skip("profiling: the page of 1,000,000 events opens", "playwright is not installed")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"),
                                             args=["--no-sandbox", "--disable-gpu"])

        def opened():
            tab = browser.new_page(viewport={"width": 1300, "height": 900})
            begin = time.perf_counter()
            tab.goto(f"file://{page}")
            tab.wait_for_function("window.ready === true")
            seconds = time.perf_counter() - begin
            tab.close()
            return seconds

        report.add("profiling: the page of 1,000,000 events opens", 3, "s", value_of(opened, 7),
                   note)
        browser.close()


def resnet50(report, folder):
    """The model of the demo, made and compiled here."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    onnx = os.path.join(folder, "resnet50.onnx")
    subprocess.run([sys.executable, os.path.join(root, "examples", "models", "make_resnet50.py"),
                    onnx], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["atc", f"--model={onnx}", "--framework=5", f"--output={onnx[:-5]}",
                    "--soc_version=Ascend310P3"], check=True, stdout=subprocess.DEVNULL)
    return onnx[:-5] + ".om"


def rows(report):
    os.environ["PATH"] = os.path.join(report.build, "bin") + os.pathsep + os.environ["PATH"]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        model = resnet50(report, folder)
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        parts = [os.path.join(folder, n) for n in ("mark", "model", "million")]
        mark_row(report, parts[0])
        peer_marks(report, os.path.join(folder, "peers"))
        model_row(report, parts[1], model)
        peer_model(report, folder, model[:-3] + ".onnx")
        path = million(parts[2])
        acl.rt.reset_device(0)
        acl.finalize()
        export_row(report, path)
        page_row(report, folder, path)
