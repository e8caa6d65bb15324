# SPDX-License-Identifier: Apache-2.0
"""msprof: runs a program and collects its profile, or works on PROF_* directories.

    msprof [options] program [arguments]        or --application="program arguments"
    msprof --dynamic=on program                 collects from 'start' to 'stop' on standard input,
    msprof --dynamic=on --pid=N                 the latter a process with PROFILING_MODE=dynamic
    msprof --delay=S --duration=S program       collects from the second S on, for S seconds
    msprof --sys-devices=all --sys-period=S --sys-profiling=on     the system, without a program
    msprof --export=on --output=DIR             files from the raw data (collecting does it too)
    msprof --query=on  --output=DIR             what was collected
    msprof --parse=on  --output=DIR             checks the raw data
    msprof --analyze=on --output=DIR            communication: there is none in one process

Options: --output --type=text|db --ascendcl --task-time=on|off|l0|l1|l2 --runtime-api --msproftx
--task-memory --aic-metrics --host-sys=cpu,mem,disk,network --host-sys-usage --storage-limit=500MB
--iteration-id --model-id --summary-format=csv|json --reports=FILE; DIR is a PROF_* directory or the
folder that holds some. docs/profiling.md tells more; --version
prints the version.
"""
from __future__ import annotations

import os
import shutil
import sys

from anynpu import __version__
from anynpu.msprof import options
from anynpu.msprof.collect import collect
from anynpu.msprof.console import export_all, query, say
from anynpu.msprof.recording import RecordingError, find_prof_directories, read_recording
from anynpu.msprof.remote import RemoteError
from anynpu.whole_file import explained


def check(paths):
    failed = 0
    for path in paths:
        try:
            recording = read_recording(path)
        except RecordingError as error:
            say("ERROR", str(error))
            failed = 1
            continue
        for warning in recording.warnings:
            say("WARNING", warning)
        say("INFO", f"{os.path.basename(path)}: {len(recording.events)} events, "
                    f"{recording.lost} lost.")
    return failed


def clear(path):
    """Removes what parsing leaves beside the raw data."""
    for name in os.listdir(path):
        shutil.rmtree(os.path.join(path, name, "sqlite"), ignore_errors=True)


def work_on(given):
    path = given.get("output", ".")
    paths = find_prof_directories(path)
    if not paths:
        raise RecordingError(f"there is no PROF_* directory in '{path}'; pass one, or the folder "
                             "that holds some")
    failed = 0
    if given.get("parse") == "on":
        failed |= check(paths)
    if given.get("export") == "on":
        failed |= export_all(paths, given)
        if given.get("clear") == "on":
            for path in paths:
                clear(path)
    if given.get("query") == "on":
        failed |= query(paths)
    if given.get("analyze") == "on":
        say("INFO", "There is no communication to analyze: one process has no peers.")
    return failed


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] in ("--help", "-h"):
        print(__doc__)
        return 0 if argv else 1
    if argv == ["--version"]:
        print(f"msprof of AnyNPU {__version__}")
        return 0
    try:
        given, program = options.parse(argv)
        if program or "pid" in given or "sys-period" in given:
            return collect(given, program)
        if not any(given.get(k) == "on" for k in ("export", "parse", "query", "analyze")):
            raise options.UsageError("there is nothing to do; name a program to profile, or one of "
                                     "--export=on, --query=on, --parse=on, --analyze=on")
        return work_on(given)
    except (options.UsageError, RecordingError, RemoteError, RuntimeError, OSError,
            ValueError) as error:
        say("ERROR", explained(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
