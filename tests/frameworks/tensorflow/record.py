#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/tensorflow anew: every case of cases/ run by TensorFlow and by tf2onnx.

    .venv-tensorflow/bin/python tests/frameworks/tensorflow/record.py [family ...] [--keep-peer]
"""
import argparse
import os
import sys

import live
import peer
from live import tf_archive


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", default=[])
    parser.add_argument("--keep-peer", action="store_true",
                        help="keep tf2onnx's recorded outcomes, and run it on new cases alone")
    parser.add_argument("-k", "--keyword", default="", help="only show these cases, write nothing")
    args = parser.parse_args()
    failed = False
    for family in args.families or live.families():
        cases, problems = live.make_family(family, args.keyword)
        for problem in problems:
            failed = True
            print("TensorFlow refuses " + problem)
        path = os.path.join(tf_archive.FOLDER, family + ".tar.xz")
        answers = {}
        if args.keep_peer and os.path.exists(path):
            answers = {case.name: case.tf2onnx for case in tf_archive.read(path)}
        answers |= peer.verdicts([case for case in cases if case.name not in answers])
        for case in cases:
            case.tf2onnx = answers[case.name]
        if args.keyword:
            for case in cases:
                print(case.name, {n: (a.dtype.name, a.shape) for n, a in case.outputs.items()},
                      case.tf2onnx)
            continue
        tf_archive.write(family, cases)
        ops = {op for case in cases for op in case.ops}
        print(f"{family}: {len(cases)} cases of {len(ops)} operators, tf2onnx + onnxruntime pass "
              f"{sum(not case.tf2onnx for case in cases)}, {os.path.getsize(path)} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
