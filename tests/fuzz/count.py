#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs fuzz targets and counts what they did, from their own output.

    count.py run [--build DIR] [--seconds N] [--leaks] [TARGET...]   one target after the other
    count.py docs                                                    the table of docs/fuzzing.md

A run adds its executions and seconds to counts.tsv. An input that ends a target is a finding: it
is kept below BUILD/tests/fuzz/failed_TARGET, and the target goes on with another seed until its
time is used."""
import argparse
import os
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COUNTS = os.path.join(HERE, "counts.tsv")
PAGE = os.path.join(ROOT, "docs", "fuzzing.md")
BEGIN, END = "<!-- counts: written by tests/fuzz/count.py docs -->", "<!-- counts end -->"
MOST_FINDINGS = 5  # of one run of this program


def targets():
    return sorted(name[5:-4] for name in os.listdir(HERE) if re.fullmatch(r"fuzz_\w+\.cpp", name))


def read_counts():
    """target -> [executions, seconds, findings]"""
    counts = {name: [0, 0, 0] for name in targets()}
    if os.path.exists(COUNTS):
        with open(COUNTS, encoding="utf-8") as file:
            for line in file.read().splitlines()[1:]:
                name, *numbers = line.split("\t")
                counts[name] = [int(number) for number in numbers]
    return counts


def add_counts(name, added):
    counts = read_counts()
    counts[name] = [a + b for a, b in zip(counts[name], added)]
    text = "target\texecutions\tseconds\tfindings\n"
    text += "".join("\t".join(map(str, [key, *counts[key]])) + "\n" for key in sorted(counts))
    with open(COUNTS + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(COUNTS + ".new", COUNTS)


def executed(output):
    """Executions of a target that was run with -print_final_stats=1, however it ended."""
    found = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
    return int(found[1]) if found else 0


def run_once(build, name, seconds, leaks):
    folder = os.path.join(build, "tests", "fuzz")
    found, failed = (os.path.join(folder, f"{kind}_{name}") for kind in ("found", "failed"))
    os.makedirs(found, exist_ok=True)
    os.makedirs(failed, exist_ok=True)
    options = f"allocator_may_return_null=1:detect_leaks={int(leaks)}"
    # Names of functions in the log (print_funcs) would take more time than the executions.
    command = [os.path.join(folder, f"fuzz_{name}"), f"-max_total_time={seconds}", "-timeout=20",
               "-rss_limit_mb=2500", "-max_len=4096", f"-seed={random.randrange(1, 1 << 31)}",
               "-print_funcs=0", "-print_final_stats=1", f"-detect_leaks={int(leaks)}",
               f"-artifact_prefix={failed}/", found, os.path.join(HERE, "corpus", name)]
    started = time.monotonic()
    done = subprocess.run(command, env={**os.environ, "ASAN_OPTIONS": options}, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    took = round(time.monotonic() - started)
    add_counts(name, [executed(done.stdout), took, int(done.returncode != 0)])
    if done.returncode:
        with open(os.path.join(failed, f"log-{int(time.time())}"), "w", encoding="utf-8") as file:
            file.write(done.stdout)
    print(f"{name}: {executed(done.stdout)} executions in {took} s"
          + (f", FAILED, see {failed}" if done.returncode else ""), flush=True)
    return done.returncode == 0, took


def run(arguments):
    """Exit code: whether something was found."""
    findings = 0
    for name in arguments.target or targets():
        left = arguments.seconds
        while left > 0 and findings < MOST_FINDINGS:
            ok, took = run_once(arguments.build, name, left, arguments.leaks)
            findings += not ok
            left -= max(took, 1)
    return 1 if findings else 0


def table(counts):
    lines = ["| target | executions | hours | findings |", "|---|---|---|---|"]
    total = [sum(column) for column in zip(*counts.values())]
    rows = [*sorted(counts.items()), ("together", total)]
    for name, (executions, seconds, findings) in rows:
        shown = name if name == "together" else f"`fuzz_{name}`"
        lines.append(f"| {shown} | {executions:,} | {seconds / 3600:.2f} | {findings} |")
    return "\n".join(lines)


def docs():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    head, rest = page.split(BEGIN)
    tail = rest.split(END)[1]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(f"{head}{BEGIN}\n{table(read_counts())}\n{END}{tail}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=("run", "docs"))
    parser.add_argument("target", nargs="*")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--leaks", action="store_true",
                        help="memory that nobody frees is a finding")
    arguments = parser.parse_intermixed_args()
    return docs() if arguments.command == "docs" else run(arguments)


if __name__ == "__main__":
    sys.exit(main())
