#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own operator tests (op_db) through torch_npu: how many entries agree with the CPU.

    score.py                              the five runs, all samples; exit code 1 below a floor
    score.py --run float32 --samples 4    one run, few samples of each entry
    score.py --only add,mul               some entries
    score.py --docs                       writes docs/torch_score.md and its table of entries too

Entries run one after the other in a process of their own (worker.py). When it ends or hangs, that
entry has failed and a new process goes on with the next.
"""
import argparse
import json
import os
import queue
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
# Name of the run: arguments of the worker, and how many entries must agree.
RUNS = {
    "float32": (["--dtype", "float32"], 615),
    "gradients": (["--dtype", "float32", "--gradient"], 480),
    "int64": (["--dtype", "int64"], 430),
    "bfloat16": (["--dtype", "bfloat16"], 500),
    "float16": (["--dtype", "float16"], 500),
}
QUIET_LIMIT_S = 600  # of one entry


class Worker:
    """A process that runs entries from a number on, and the lines that it prints."""

    def __init__(self, arguments, start):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "worker.py"), *arguments, "--from", str(start)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        self.lines = queue.Queue()
        self.errors = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._keep_errors, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _keep_errors(self):
        for line in self.process.stderr:
            self.errors = (self.errors + [line.strip()])[-5:]

    def line(self):
        """The next line; None: the process has ended; '' : it has been silent too long."""
        try:
            return self.lines.get(timeout=QUIET_LIMIT_S)
        except queue.Empty:
            return ""

    def end(self, hung):
        if hung:
            self.process.kill()
        return self.process.wait()


def run_all(arguments, show):
    """Results of all entries, whatever becomes of the processes."""
    results, start = [], 0
    while True:
        worker, current = Worker(arguments, start), None
        while line := worker.line():
            record = json.loads(line)
            if "start" in record:
                current = record
                continue
            results.append(record)
            show(record)
            current = None
        hung = line == ""
        code = worker.end(hung)
        if current is None:
            if hung or code != 0 or not results:
                raise SystemExit(f"the worker ended with {code}: {' / '.join(worker.errors)}")
            return results
        how = f"silent for {QUIET_LIMIT_S} s" if hung else f"the process ended with {code}"
        record = {"number": current["start"], "name": current["name"], "passed": 0, "failed": 1,
                  "skipped": 0, "seconds": 0,
                  "reason": f"{how}: {' / '.join(worker.errors)}"[:600]}
        results.append(record)
        show(record)
        start = current["start"] + 1


def agrees(record):
    return record["failed"] == 0


def summary(name, results):
    good = sum(map(agrees, results))
    samples = sum(r["passed"] + r["failed"] for r in results)
    right = sum(r["passed"] for r in results)
    return (f"{name}: {good} of {len(results)} entries agree "
            f"({right} of {samples} samples, {sum(r['seconds'] for r in results):.0f} s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="append", choices=RUNS, help="default: all")
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="npu")
    parser.add_argument("--build", default="build", help="where the results are kept")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every failure")
    args = parser.parse_args()
    folder = os.path.join(args.build, "torch_score")
    os.makedirs(folder, exist_ok=True)
    below = False
    for name in args.run or RUNS:
        arguments, floor = RUNS[name]
        arguments = arguments + ["--samples", str(args.samples), "--only", args.only,
                                 "--device", args.device]

        def show(record):
            if args.verbose and not agrees(record):
                print(f"  {record['name']}: {record['reason']}", flush=True)
        results = run_all(arguments, show)
        print(summary(name, results), flush=True)
        whole = not args.only and not args.samples
        below |= whole and sum(map(agrees, results)) < floor
        with open(os.path.join(folder, name + ("" if whole else ".part") + ".json"), "w",
                  encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    if args.docs:
        import page
        page.write(folder, os.path.join(ROOT, "docs", "torch_score.md"), args.samples)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
