# SPDX-License-Identifier: Apache-2.0
"""Builds and runs every benchmark row and prints one table.

    python bench/run.py --build build [--json FILE] [word ...]

With words, only rows whose file name contains one of them. The figures are printed, never asserted:
they depend on the machine. docs/performance.md is made from the JSON by bench/make_docs.py.
"""

import argparse
import glob
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)

import harness  # noqa: E402

ROW_TIME = 900  # seconds for one file of rows, on a busy machine
# Which page of docs/ has the rows of a file, by the start of its name; the others are on
# performance.md.
PAGES = {"model_tensorflow": "tensorflow_performance", "model_": "model_performance",
         "onnx_operators": "operator_performance"}


def machine():
    name = platform.machine()
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    return {
        "cpu": name,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        "load": os.getloadavg()[0],
        "real_time": os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR),
    }


def run_cpp(build, words, out):
    jobs = str(len(os.sched_getaffinity(0)))
    targets = ["anynpu_bench", "anynpu_bench_calls"]
    known = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True,
                           text=True).stdout
    targets = [t for t in targets if f"\n{t}: " in known]
    done = subprocess.run(["cmake", "--build", build, "-j", jobs, "--target", *targets],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    program = os.path.join(build, "bench", "anynpu_bench")
    names = subprocess.run([program, "--list"], check=True, capture_output=True, text=True)
    for name in names.stdout.split():
        if not words or any(word in name for word in words):
            # A process for each, so that memory and threads of one row are not another's.
            yield run_row([program, "--json", out, "--only", name], name, out)


def run_row(command, name, out, env=None):
    time.sleep(1)  # the row before is over: its memory is free, its share of real time is back
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=ROW_TIME)
        if done.returncode == 0:
            with open(out) as file:
                return json.load(file)
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        reason = f"exit status {done.returncode}: {last}"
    except subprocess.TimeoutExpired:
        reason = f"did not end within {ROW_TIME} s"
    return {"rows": [], "skipped": [{"what": name, "reason": reason}]}


def run_python(path, build, out):
    env = dict(os.environ)
    places = [os.path.join(build, "python"), os.path.join(ROOT, "python")]
    env["PYTHONPATH"] = os.pathsep.join(places + [p for p in [env.get("PYTHONPATH")] if p])
    command = [sys.executable, os.path.join(HERE, "harness.py"), path, "--json", out,
               "--build", build]
    return run_row(command, os.path.basename(path), out, env)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--json", help="where to write the figures (default: BUILD/bench.json)")
    parser.add_argument("words", nargs="*", help="only rows whose file name contains one of these")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    result = {"machine": machine(), "rows": [], "skipped": []}

    def take(part, page="performance"):
        for key in ("rows", "skipped"):
            result[key] += [row | {"page": page} for row in part[key]]

    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "rows.json")
        for part in run_cpp(build, args.words, out):
            take(part)
        for path in sorted(glob.glob(os.path.join(HERE, "rows", "*.py"))):
            name = os.path.basename(path)
            if not args.words or any(word in name for word in args.words):
                page = next((page for start, page in PAGES.items() if name.startswith(start)),
                            "performance")
                take(run_python(path, build, out), page)

    with open(args.json or os.path.join(build, "bench.json"), "w") as file:
        json.dump(result, file, indent=1)
    print("{cpu}, {cores} cores, load {load:.1f} at the start".format(**result["machine"]))
    print(harness.table(result["rows"], result["skipped"]))


if __name__ == "__main__":
    main()
