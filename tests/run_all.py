#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the C++ tests (ctest) and the Python tests (pytest) and counts them together.

    tests/run_all.py                 everything
    tests/run_all.py -k memcpy       what has 'memcpy' in its name, C++ and Python
    tests/run_all.py --only cpp      one of the two sides

The last line is 'N passed, N failed' (with ', N skipped' where any); the exit code is 1 when a
test failed and 2 when none ran. Python test files run in processes of their own, so a crash in one
loses that file alone. A test past its time gets the stacks of all its threads printed (gdb where
it is installed), then it is ended and counts as failed.
"""
import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import junit
import stacks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CPP_TIMEOUT = 300  # the TIMEOUT property that cmake/module.cmake gives each C++ test


def python_folder(build):
    """What set_env.sh gives to users."""
    return os.path.join(build, "ascend", "python", "site-packages")


def test_environment(build):
    env = dict(os.environ, ANYNPU_BUILD_DIR=build, PYTHONFAULTHANDLER="1")
    python_path = [python_folder(build), env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(p for p in python_path if p)
    env["PATH"] = os.path.join(build, "bin") + os.pathsep + env.get("PATH", "")
    return env


def run_ctest(args, env, scratch):
    """Results of the C++ tests; ctest ends a test that runs past its own TIMEOUT property."""
    report = os.path.join(scratch, "ctest.xml")
    command = ["ctest", "--test-dir", args.build, "-j", str(args.jobs), "--timeout",
               str(args.timeout), "--output-junit", report]
    if args.keyword:
        command += ["-R", args.keyword]
    log_path = os.path.join(args.build, "ctest.log")
    with open(log_path, "wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log,
                                   stderr=subprocess.STDOUT)
        watch = stacks.Watch(process.pid, min(args.timeout, CPP_TIMEOUT) - 5)
        while process.poll() is None:
            time.sleep(0.05)
            watch.look()
    results = junit.read_ctest(report)
    if results is None:
        return [junit.Result("ctest", "failed", f"ctest wrote no report; see {log_path}")]
    for result in results:
        result.rerun = f"ctest --test-dir {args.build} --output-on-failure -R '^{result.name}$'"
    return results


def run_pytest_files(files, args, env, scratch):
    """One pytest process over the files (paths from the root)."""
    stem = files[0].replace(os.sep, "_")
    report, log_path = os.path.join(scratch, stem + ".xml"), os.path.join(scratch, stem + ".log")
    command = [sys.executable, "-m", "pytest", "-v", "--no-header", "-p", "no:cacheprovider",
               "--timeout", str(args.timeout), "-o", f"faulthandler_timeout={args.timeout - 5}",
               "--junitxml", report, *files]
    if args.keyword:
        command += ["-k", args.keyword]
    with open(log_path, "wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        code = stacks.wait_while_growing(process, log_path, quiet_limit=args.timeout + 30)
    with open(log_path, encoding="utf-8", errors="replace") as log:
        text = log.read()
    results = junit.read_pytest(report)
    if results is None or code not in (0, 1, 5):
        results = junit.from_pytest_log(files[0], text, code)
    for result in results:
        result.rerun = f"PYTHONPATH={python_folder(args.build)} " \
                       f"{sys.executable} -m pytest -v '{result.name}'"
    return results


def last_times(build):
    """Seconds that each Python file took in the last run of everything, to start the long ones
    first."""
    try:
        with open(os.path.join(build, "test_times.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def python_files():
    """The test files of each folder of tests/python, as paths from the root."""
    tests = os.path.join(ROOT, "tests", "python")
    groups = []
    for folder in sorted(os.listdir(tests)):
        found = glob.glob(os.path.join(tests, folder, "**", "test_*.py"), recursive=True)
        if found:
            groups.append(sorted(os.path.relpath(path, ROOT) for path in found))
    return groups


def run_pytest(args, env, scratch):
    groups = python_files()
    if args.keyword:  # few tests out of many files: a process per folder is quicker
        return [result for files in groups
                for result in run_pytest_files(files, args, env, scratch)]

    files = [path for group in groups for path in group]
    times = last_times(args.build)

    def run_one(path):
        start = time.monotonic()
        results = run_pytest_files([path], args, env, scratch)
        times[path] = round(time.monotonic() - start, 2)
        return results

    with ThreadPoolExecutor(args.jobs) as pool:
        parts = pool.map(run_one, sorted(files, key=lambda path: -times.get(path, 1e9)))
        results = [result for part in parts for result in part]
    with open(os.path.join(args.build, "test_times.json"), "w", encoding="utf-8") as file:
        json.dump(times, file, indent=1, sort_keys=True)
    return results


def print_failures(results):
    failed = [r for r in results if r.outcome == "failed"]
    for result in failed:
        print(f"\n--- FAILED {result.name}\n{result.detail.rstrip()}\n    again: {result.rerun}")
    if failed:
        print("\nfailed tests:")
        for result in failed:
            print(f"  {result.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("-j", "--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("-k", "--keyword", help="only tests whose name matches")
    parser.add_argument("--only", choices=["cpp", "python"])
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one test")
    args = parser.parse_args()
    # A shell starts background jobs with Ctrl-C ignored, and tests of Ctrl-C would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    args.build = os.path.abspath(args.build)
    if not os.path.isfile(os.path.join(args.build, "CMakeCache.txt")):
        sys.exit(f"no build in {args.build}; build first (make build) or name it with --build")

    env = test_environment(args.build)
    results = []
    with tempfile.TemporaryDirectory(prefix="anynpu-tests-") as scratch:
        for side, title, run in (("cpp", "C++", run_ctest), ("python", "Python", run_pytest)):
            if args.only not in (None, side):
                continue
            start = time.monotonic()
            part = run(args, env, scratch)
            passed = sum(r.outcome == "passed" for r in part)
            print(f"{title} tests: {passed} of {len(part)} passed in "
                  f"{time.monotonic() - start:.1f} s", flush=True)
            results += part

    print_failures(results)
    print("one test: tests/run_all.py -k NAME   one side: --only cpp | python")
    counts = {kind: sum(r.outcome == kind for r in results)
              for kind in ("passed", "failed", "skipped")}
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}", flush=True)
    if counts["failed"]:
        return 1
    return 0 if counts["passed"] else 2


if __name__ == "__main__":
    sys.exit(main())
