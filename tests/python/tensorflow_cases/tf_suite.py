#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the recorded cases of TensorFlow's operators through atc and acl.mdl and keeps the score.

    tf_suite.py                   everything, then the score
    tf_suite.py -k Resize -v      what has 'Resize' in its name, reasons printed
    tf_suite.py --family nn       one file of tests/data/tensorflow
    tf_suite.py --docs            also writes docs/tensorflow_score.md

Outcomes are compared with known_failures.yaml; the exit code is 1 when they differ.
"""
import argparse
import collections
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
KNOWN = os.path.join(HERE, "known_failures.yaml")
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "support")]

import case_suite  # noqa: E402
import tf_archive  # noqa: E402
from case_suite import judge  # noqa: E402


def read_known():
    return case_suite.read_known(KNOWN)


def run(names, build, jobs=2, results=None):
    """{name: (outcome, reason)}; `results` is filled as the cases end."""
    return case_suite.run(os.path.join(HERE, "tf_worker.py"), names, build, jobs, results)


def score_line(results):
    passed = sum(outcome == "passed" for outcome, _ in results.values())
    operators = {op for case in tf_archive.all_cases() if case.name in results for op in case.ops}
    return (f"{passed} of {len(results)} cases pass ({100 * passed / max(len(results), 1):.1f} %), "
            f"{len(operators)} operators")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("-k", "--keyword", default="")
    parser.add_argument("--family", default="")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every failure")
    parser.add_argument("-j", "--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("--json", help="write outcomes and reasons to this file")
    parser.add_argument("--docs", action="store_true", help="write docs/tensorflow_score.md")
    args = parser.parse_args()
    names = [case.name for case in tf_archive.all_cases()
             if args.keyword in case.name and args.family in ("", case.family)]
    results = run(names, os.path.abspath(args.build), args.jobs)
    if args.verbose:
        for name, (outcome, reason) in results.items():
            if outcome == "failed":
                print(f"{name}: {reason}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    problems, _ = judge(results, read_known())
    by_op = collections.Counter(problem.split(".")[0] for problem in problems)
    for problem in problems if len(problems) < 100 else []:
        print("NOT AS LISTED: " + problem)
    if len(problems) >= 100:
        print(f"NOT AS LISTED: {len(problems)} cases, by operator: "
              + ", ".join(f"{op} {count}" for op, count in by_op.most_common()))
    print(score_line(results))
    if args.docs:
        import tf_score_page
        tf_score_page.write(results, read_known())
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
