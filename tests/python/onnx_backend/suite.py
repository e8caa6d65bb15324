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
import json
import os
import sys

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
KNOWN = os.path.join(HERE, "known_failures.yaml")
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

import case_suite  # noqa: E402
from case_suite import judge  # noqa: E402


def read_known():
    return case_suite.read_known(KNOWN)


def run(names, build, jobs=2, results=None):
    """{name: (outcome, reason)}; `results` is filled as the cases end."""
    return case_suite.run(os.path.join(HERE, "worker.py"), names, build, jobs, results)


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
