# SPDX-License-Identifier: Apache-2.0
"""msprof: runs a program and collects its profile, or works on PROF_* directories.

    msprof [options] program [arguments]        or --application="program arguments"
    msprof --export=on --output=DIR             files from the raw data (collecting does it too)
    msprof --query=on  --output=DIR             what was collected
    msprof --parse=on  --output=DIR             checks the raw data
    msprof --analyze=on --output=DIR            communication: there is none in one process

Options: --output --type=text|db --ascendcl --task-time=on|off|l0|l1|l2 --runtime-api --msproftx
--task-memory --aic-metrics --host-sys=cpu,mem,disk,network --host-sys-usage --storage-limit=500MB
--iteration-id --model-id --summary-format=csv|json --reports=FILE; DIR is a PROF_* directory or the
folder that holds some. docs/profiling.md tells more.
"""
from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time

from anynpu.msprof import options
from anynpu.msprof.export import export
from anynpu.msprof.recording import RecordingError, find_prof_directories, read_recording
from anynpu.msprof.timeline import REPORT_NAMES
from anynpu.msprof.work import Work


def say(kind, text):
    print(f"[{kind}] {text}", flush=True)


def layers_of(path):
    """The timeline layers that a --reports file keeps."""
    try:
        with open(path, encoding="utf-8") as file:
            wanted = json.load(file)["json_process"]
        off = {REPORT_NAMES[k] for k, v in wanted.items() if k in REPORT_NAMES and not v}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise options.UsageError(f"--reports={path}: {error}; expected a JSON file with "
                                 '{"json_process": {"cann": true, ...}}') from error
    return set(REPORT_NAMES.values()) - off


def export_all(paths, given):
    types = ("db",) if given.get("type") == "db" else ("text", "db")
    layers = layers_of(given["reports"]) if "reports" in given else None
    step = (int(given["model-id"]) if "model-id" in given else None,
            int(given["iteration-id"]) if "iteration-id" in given else None)
    failed = 0
    for path in paths:
        say("INFO", f"Start export data in {os.path.basename(path)}.")
        try:
            export(path, types, given.get("summary-format", "csv"), layers, step)
        except (RecordingError, OSError) as error:
            say("ERROR", str(error))
            failed = 1
            continue
        say("INFO", f"Export all data in {os.path.basename(path)} done.")
    return failed


def query_rows(path):
    recording = read_recording(path)
    work = Work(recording)
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(recording.begin_ns / 1e9))
    models = {}
    for device, model, number, _, duration, _ in work.iterations:
        models.setdefault((device, model), []).append((duration, number))
    name = os.path.basename(path)
    if not models:
        for device in work.device_ids or ["host"]:
            yield [recording.app, str(device), name, when, "N/A", "N/A", "N/A", "N/A"]
    for (device, model), found in sorted(models.items()):
        top = ",".join(str(n) for _, n in sorted(found, reverse=True)[:5])
        yield [recording.app, str(device), name, when, str(model), str(len(found)), top, "N/A"]


def query(paths):
    head = ["Job Info", "Device ID", "Dir Name", "Collection Time", "Model ID", "Iteration Number",
            "Top Time Iteration", "Rank ID"]
    rows, failed = [head], 0
    for path in paths:
        try:
            rows += query_rows(path)
        except RecordingError as error:
            say("ERROR", str(error))
            failed = 1
    widths = [max(len(r[i]) for r in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip())
    return failed


def check(paths):
    failed = 0
    for path in paths:
        try:
            recording = read_recording(path)
        except RecordingError as error:
            say("ERROR", str(error))
            failed = 1
            continue
        for problem in recording.problems:
            say("WARNING", problem)
        say("INFO", f"{os.path.basename(path)}: {len(recording.events)} events, "
                    f"{recording.lost} lost.")
    return failed


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
    if given.get("query") == "on":
        failed |= query(paths)
    if given.get("analyze") == "on":
        say("INFO", "There is no communication to analyze: one process has no peers.")
    return failed


def default_output(program):
    """The folder of the program, or of the script that an interpreter runs."""
    for part in [*(p for p in program if p.endswith(".py")), program[0]]:
        if os.path.isfile(part):
            return os.path.dirname(os.path.abspath(part))
    return os.getcwd()


def collect(given, program):
    output = os.path.abspath(given.get("output") or default_output(program))
    # Its own folder while it runs, so that two collections at once do not take each other's data.
    own = os.path.join(output, f"msprof_{os.getpid()}_collecting")
    os.makedirs(own, exist_ok=True)
    for name in given:
        if options.OPTIONS[name].card and given[name] != "off":
            say("WARNING", f"--{name} {options.CARD}.")
    env = dict(os.environ)
    for item in filter(None, given.get("environment", "").split(";")):
        name, _, value = item.partition("=")
        env[name] = value
    env["PROFILER_SAMPLECONFIG"] = json.dumps(
        options.sample_config(given, own, os.path.basename(program[0])))
    say("INFO", "Start profiling....")
    try:
        code = subprocess.run(program, env=env).returncode
    except OSError as error:
        os.rmdir(own)
        raise options.UsageError(f"'{program[0]}' cannot be started: {error.strerror}") from error
    paths = []
    for path in find_prof_directories(own):
        paths.append(shutil.move(path, output))
    shutil.rmtree(own, ignore_errors=True)
    say("INFO", f"The program ended with {code}.")
    if not paths:
        say("WARNING", "Nothing was collected: the program never initialised AscendCL (acl.init).")
        return code or 1
    failed = export_all(paths, given) | query(paths)
    say("INFO", f"Process profiling data complete. Data is saved in {', '.join(paths)}")
    return code or failed


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] in ("--help", "-h"):
        print(__doc__)
        return 0 if argv else 1
    try:
        given, program = options.parse(argv)
        program = program or shlex.split(given.get("application", ""))
        if program:
            return collect(given, program)
        if not any(given.get(k) == "on" for k in ("export", "parse", "query", "analyze")):
            raise options.UsageError("there is nothing to do; name a program to profile, or one of "
                                     "--export=on, --query=on, --parse=on, --analyze=on")
        return work_on(given)
    except (options.UsageError, RecordingError, OSError, ValueError) as error:
        say("ERROR", str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
