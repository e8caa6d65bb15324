# SPDX-License-Identifier: Apache-2.0
"""Runs thousands of cases in a few worker processes and compares the outcomes with a list.

A worker reads names of cases from standard input and answers each with a JSON line:
{"case":, "outcome": "start" | "passed" | "failed" | "out of scope", "reason":}.
"""
import collections
import fnmatch
import json
import os
import subprocess
import sys
import threading

SECONDS_PER_CASE = 300


def read_known(path):
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


def run_part(worker, names, results, build):
    """Feeds one worker after another: a crash ends the worker, costs its case and no other."""
    env = dict(os.environ, ANYNPU_BUILD_DIR=build, ANYNPU_THREADS="1",
               OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    env["PYTHONPATH"] = os.pathsep.join(
        [os.path.join(build, "python"), os.path.dirname(os.path.abspath(__file__)),
         env.get("PYTHONPATH", "")])
    waiting = collections.deque(names)
    while waiting:
        process = subprocess.Popen([sys.executable, worker], env=env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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


def run(worker, names, build, jobs=2, results=None):
    """{name: (outcome, reason)}; `results` is filled as the cases end."""
    results = {} if results is None else results
    threads = [threading.Thread(target=run_part, args=(worker, names[i::jobs], results, build))
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


def serve(run_case):
    """The worker's side: answers the names on standard input with what `run_case` returns."""
    for line in sys.stdin:
        name = line.strip()
        print(json.dumps({"case": name, "outcome": "start"}), flush=True)
        try:
            outcome, reason = run_case(name)
        except Exception as error:  # noqa: BLE001  a case must not end the others
            outcome, reason = "failed", f"{type(error).__name__}: {error}"
        print(json.dumps({"case": name, "outcome": outcome, "reason": reason}), flush=True)
