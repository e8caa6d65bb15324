#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the onnx package's backend suite through atc and acl.mdl and keeps the score.

    suite.py                   everything, then the score
    suite.py -k resize -v      what has 'resize' in its name, reasons printed
    suite.py --docs            also writes docs/onnx_score.md (with a column for
                               onnxruntime where it is installed)

Outcomes are compared with known_failures.yaml; the exit code is 1 when they differ.
"""
import argparse
import collections
import fnmatch
import json
import os
import subprocess
import sys
import threading

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
KNOWN = os.path.join(HERE, "known_failures.yaml")
SECONDS_PER_CASE = 300


def read_known(path=KNOWN):
    """[(pattern, reason)]. The file is a YAML map of strings, one line per entry."""
    entries = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            pattern, colon, reason = line.partition(":")
            reason = reason.strip().strip('"')
            if not colon or not reason:
                raise ValueError(f"{path}, line {number}: expected 'pattern: reason'")
            entries.append((pattern.strip().strip('"'), reason))
    return entries


def run_part(names, results, build):
    """Feeds one worker after another: a crash ends the worker, costs its case and no other."""
    env = dict(os.environ, ANYNPU_BUILD_DIR=build, ANYNPU_THREADS="1",
               OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    env["PYTHONPATH"] = os.path.join(build, "python") + os.pathsep + env.get("PYTHONPATH", "")
    waiting = collections.deque(names)
    while waiting:
        process = subprocess.Popen([sys.executable, os.path.join(HERE, "worker.py")], env=env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        errors = collections.deque(maxlen=20)
        drain = threading.Thread(target=lambda p=process, e=errors: e.extend(p.stderr))
        drain.start()
        current = None
        while waiting:
            current = waiting.popleft()
            watchdog = threading.Timer(SECONDS_PER_CASE, process.kill)
            watchdog.start()
            try:
                process.stdin.write(current + "\n")
                process.stdin.flush()
                answer = next((json.loads(line) for line in process.stdout
                               if line.startswith("{") and '"start"' not in line), None)
            except BrokenPipeError:
                answer = None
            watchdog.cancel()
            if answer is None:
                break
            results[current] = (answer["outcome"], answer["reason"])
            current = None
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        code = process.wait()
        drain.join()
        if current is not None:
            results[current] = ("failed", f"the process ended with code {code}: "
                                + " ".join("".join(errors).split())[-300:])


def run(names, build, jobs=2, results=None):
    """{name: (outcome, reason)}; `results` is filled as the cases end."""
    results = {} if results is None else results
    threads = [threading.Thread(target=run_part, args=(names[i::jobs], results, build))
               for i in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {name: results[name] for name in names}


def judge(results, known):
    """Sentences about what is not as the list says."""
    problems = []
    used = set()
    for name, (outcome, reason) in results.items():
        matches = [pattern for pattern, _ in known if fnmatch.fnmatchcase(name, pattern)]
        used.update(matches)
        if outcome == "failed" and not matches:
            problems.append(f"{name} failed: {reason}")
        if outcome == "passed" and matches:
            problems.append(f"{name} passes, and known_failures.yaml lists it as '{matches[0]}'; "
                            "take it out")
    return problems, used


def score(results):
    """{kind: (passed, counted, out of scope)}"""
    rows = {}
    kinds = {case.name: case.kind for case in cases.all_cases()}
    for name, (outcome, _) in results.items():
        passed, counted, out = rows.get(kinds[name], (0, 0, 0))
        rows[kinds[name]] = (passed + (outcome == "passed"), counted + (outcome != "out of scope"),
                             out + (outcome == "out of scope"))
    return rows


def score_line(results):
    rows = score(results).values()
    passed, counted = sum(r[0] for r in rows), sum(r[1] for r in rows)
    return (f"{passed} of {counted} cases pass ({100 * passed / max(counted, 1):.1f} %); "
            f"{sum(r[2] for r in rows)} more have inputs or outputs that AscendCL cannot describe")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("-k", "--keyword", default="")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every failure")
    parser.add_argument("-j", "--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("--json", help="write outcomes and reasons to this file")
    parser.add_argument("--docs", action="store_true", help="write docs/onnx_score.md")
    args = parser.parse_args()
    os.environ["ANYNPU_BUILD_DIR"] = os.path.abspath(args.build)
    names = [case.name for case in cases.all_cases() if args.keyword in case.name]
    results = run(names, os.path.abspath(args.build), args.jobs)
    if args.verbose:
        for name, (outcome, reason) in results.items():
            if outcome == "failed":
                print(f"{name}: {reason}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    problems, _ = judge(results, read_known())
    for problem in problems:
        print("NOT AS LISTED: " + problem)
    print(score_line(results))
    if args.docs:
        import score_page
        score_page.write(results, read_known())
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
