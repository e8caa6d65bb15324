#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes messages.tsv: what functions say about wrong arguments. Calls each function of pyACL with
every kind of wrong argument (tests/misuse) and keeps the first message of each code.

    python3 tools/site/collect_messages.py [function ...]        with acl importable; minutes
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MOST = 4  # messages of a function
KINDS = {"null": "{} is null", "stale": "{} was destroyed", "wrong handle type": "{} is of another kind",
         "not a handle": "{} is no handle", "never allocated": "{} was never allocated",
         "freed": "{} was freed", "too small": "{} has too few bytes", "zero": "{} is 0",
         "negative": "{} is negative", "huge": "{} is huge", "lowest": "{} is the lowest number",
         "highest": "{} is the highest number", "empty": "{} is empty", "very long": "{} is very long",
         "not a number": "{} is no number", "before init": "before `acl.init`",
         "after finalize": "after `acl.finalize`"}


def cases(functions):
    done = subprocess.run([sys.executable, "-m", "misuse.walk", *functions],
                          cwd=os.path.join(ROOT, "tests"), capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def plain(message):
    """One line, with addresses and paths that differ from run to run left out."""
    text = message.split("\n")[0]
    text = re.sub(r"^E\w+: ", "", text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x...", text).strip()


def main():
    found = {}
    for case in cases(sys.argv[1:]):
        code = case["outcome"]
        if not re.fullmatch(r"\d+", code) or not case.get("message") or case["kind"] not in KINDS:
            continue
        mine = found.setdefault(case["function"], {})
        if code not in mine and len(mine) < MOST:
            name = f"`{case['argument']}`" if case.get("argument") else ""
            mine[code] = (KINDS[case["kind"]].format(name), plain(case["message"]))
    with open(os.path.join(HERE, "messages.tsv"), "w", encoding="utf-8") as file:
        file.write("function\tmistake\tcode\tmessage\n")
        for function, mine in sorted(found.items()):
            for code, (mistake, message) in mine.items():
                file.write(f"{function}\t{mistake}\t{code}\t{message}\n")
    print(f"messages of {len(found)} functions")


if __name__ == "__main__":
    main()
