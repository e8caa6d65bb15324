# SPDX-License-Identifier: Apache-2.0
"""`stc-prof`: records kernels and copies of an HPE program and shows them. Instructions and bytes
are exact, cycles modelled (docs/npc_cycles.md), times those of this host."""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys

from . import __version__
from . import stc_prof_tables as tables

FOLDER = "stc-prof.data"
LONGEST_FOLDER = 225  # bytes


class Failure(Exception):
    pass


def record(options):
    folder = os.path.abspath(options.output_dir)
    if len(os.fsencode(folder)) > LONGEST_FOLDER:
        raise Failure(f"the path of --output-dir has more than {LONGEST_FOLDER} bytes: {folder}")
    if not options.program:
        raise Failure("no program to record; give it behind the options")
    if os.path.isdir(folder):
        shutil.rmtree(folder + ".old", ignore_errors=True)
        os.rename(folder, folder + ".old")
    os.makedirs(folder)
    with open(os.path.join(folder, "default.opts"), "w", encoding="utf-8") as file:
        json.dump({"program": options.program}, file)
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's
    try:
        done = subprocess.Popen(
            options.program, env={**os.environ, "ANYNPU_STC_PROF": folder},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)).wait()
    except OSError as error:
        raise Failure(f"cannot start {options.program[0]}: {error.strerror}") from None
    finally:
        signal.signal(signal.SIGINT, old)
    return done if done >= 0 else 128 - done


def load(options):
    """(pid, row) of every recorded kernel and copy, by start."""
    folder = options.input_dir
    if not os.path.isdir(folder):
        raise Failure(f"no folder {folder}; run `stc-prof record <program>` first")
    rows = []
    for name in sorted(os.listdir(folder)):
        if not (name.startswith("hpe-") and name.endswith(".jsonl")):
            continue
        pid = int(name[4:-6])
        if getattr(options, "target_pid", None) in (None, pid):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                rows += [(pid, json.loads(line)) for line in file if line.endswith("\n")]
    thread = getattr(options, "target_tid", None)
    if thread is not None:
        rows = [row for row in rows if row[1].get("tid") in (None, thread)]  # copies have none
    return sorted(rows, key=lambda row: row[1]["start_ns"])


def dump(options):
    """Chrome's trace format, for chrome://tracing and Perfetto."""
    events = []
    for pid, row in load(options):
        lane = f"cluster {row['cluster']} " + ("kernels" if "kernel" in row else row["copy"])
        events.append({"name": row.get("kernel") or f"copy {row['copy']}", "ph": "X", "pid": pid,
                       "tid": lane, "ts": row["start_ns"] / 1e3,
                       "dur": (row["end_ns"] - row["start_ns"]) / 1e3,
                       "args": {"bytes": row["bytes"]} if "copy" in row
                       else {"npcs": len(row["npc"]), "instructions": sum(row["instructions"])}})
    json.dump({"traceEvents": events}, sys.stdout)
    print()


def summary(options):
    print(tables.summary(load(options)))


def detail(options):
    modules = options.sub_module.split(",")
    unknown = [name for name in modules if name not in tables.MODULES]
    if unknown:
        raise Failure(f"unknown sub-module {unknown[0]}; expected {', '.join(tables.MODULES)}")
    print(tables.detail(load(options), modules))


def parser():
    top = argparse.ArgumentParser(prog="stc-prof", description=__doc__)
    top.add_argument("--version", action="version", version=f"%(prog)s of AnyNPU {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="run a program and record it")
    one.add_argument("--output-dir", default=FOLDER)
    one.add_argument("--multi-thread", action="store_true", help="all threads are recorded anyway")
    one.add_argument("program", nargs=argparse.REMAINDER)
    one.set_defaults(run=record)
    for name, run in (("dump", dump), ("summary", summary), ("detail", detail)):
        one = commands.add_parser(name)
        one.add_argument("--input-dir", default=FOLDER)
        one.set_defaults(run=run)
        if name != "dump":
            one.add_argument("--target-pid", type=int)
            one.add_argument("--target-tid", type=int)
        if name == "detail":
            one.add_argument("--sub-module", default="DEFAULT",
                             help="comma list of " + ", ".join(tables.MODULES))
    return top


def main(words=None):
    options = parser().parse_args(words)
    try:
        return options.run(options) or 0
    except Failure as failure:
        print(f"stc-prof: {failure}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # a reader such as head has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
