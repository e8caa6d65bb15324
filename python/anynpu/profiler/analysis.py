# SPDX-License-Identifier: Apache-2.0
"""analyse: from *_ascend_ms directories to the files in their ASCEND_PROFILER_OUTPUT."""
from __future__ import annotations

import glob
import json
import logging
import os
import re
import subprocess
import sys
import time

from anynpu.msprof.recording import PROF_NAME, RecordingError, read_recording
from anynpu.whole_file import explained

log = logging.getLogger("anynpu.profiler")
OUTPUT = "ASCEND_PROFILER_OUTPUT"


def _prof_child(path):
    names = sorted(n for n in os.listdir(path) if PROF_NAME.match(n))
    return os.path.join(path, names[0]) if names else None


def _qualifies(path):
    return os.path.isdir(path) and (os.path.isdir(os.path.join(path, "FRAMEWORK"))
                                    or _prof_child(path) is not None)


def find_directories(path):
    path = os.path.abspath(path)
    if not os.path.isdir(path):
        return []
    if _qualifies(path):
        return [path]
    children = (os.path.join(path, n) for n in sorted(os.listdir(path)))
    return [c for c in children if _qualifies(c)]


def read_info(path):
    found = sorted(glob.glob(os.path.join(glob.escape(path), "profiler_info_*.json")))
    if not found:
        raise ValueError(f"'{path}' has no profiler_info_*.json; it was not completed by stop()")
    if len(found) > 1:
        log.warning("'%s' has several profiler_info_*.json; the first is taken", path)
    try:
        with open(found[0], encoding="utf-8") as file:
            info = json.load(file)
        parameters = info["profiler_parameters"]
        good = isinstance(parameters["profiler_level"], str) and all(
            isinstance(parameters.get(key, []), list) for key in ("activities", "export_type"))
    except (ValueError, KeyError, TypeError):
        good = False
    if not good:
        raise ValueError(f"'{found[0]}' is damaged: profiler_parameters with a profiler_level, and "
                         "lists of activities and export types are expected; record again")
    info["rank"] = re.search(r"profiler_info_(\w+)\.json$", found[0])[1]
    return info


def read_spans(path):
    """(thread, depth, begin, duration, name) of a file of FRAMEWORK; lines that are none are told
    and left out."""
    if not os.path.exists(path):
        return []
    spans, bad = [], 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if isinstance(row, list) and len(row) == 5 and isinstance(row[4], str) and all(
                    type(n) is int and 0 <= n < 1 << 62 for n in row[:4]):
                spans.append(row)
            else:
                bad += 1
    if bad:
        log.warning("'%s': %d lines are damaged and were left out", path, bad)
    return spans


def analyse_directory(path, pretty=False, step_list=None, data_simplification=True):
    """Writes ASCEND_PROFILER_OUTPUT of one directory. Raises ValueError or RecordingError."""
    from anynpu.msprof.database import write_database
    from anynpu.msprof.export import export
    from anynpu.msprof.work import Work
    from anynpu.profiler import files

    begun = time.monotonic()
    info = read_info(path)
    child = _prof_child(path)
    if child is None:
        raise RecordingError(f"'{path}' has no PROF_* directory; nothing was recorded")
    recording = read_recording(child)
    for warning in recording.warnings:
        log.warning("%s: %s", child, warning)
    framework = os.path.join(path, "FRAMEWORK")
    offset = files.clock_offset(child)
    steps = files.shifted(read_spans(os.path.join(framework, "mindspore.op_range")), offset)
    stacks = files.shifted(read_spans(os.path.join(framework, "mindspore.python_stack")), offset)
    if step_list is not None:
        steps = files.keep_steps(recording, steps, step_list)
    profile = files.Profile(Work(recording), info, steps, stacks, pretty)
    if not info["profiler_parameters"].get("sync_enable", True):
        profile.work.time_by_sending()
    output = os.path.join(path, OUTPUT)
    os.makedirs(output, exist_ok=True)
    exports = info["profiler_parameters"].get("export_type") or ["text"]
    if "text" in exports:
        files.write_text_files(profile, output)
    if "db" in exports:
        write_database(profile.work, os.path.join(
            output, f"ascend_mindspore_profiler_{info['rank']}.db"))
    if not data_simplification:
        export(child)
    log.info("%s analysed in %.1f s", path, time.monotonic() - begun)
    return output


def analyse_or_tell(path, in_background=False, **options):
    """analyse_directory for a program that runs on, whatever happens; or in another process."""
    try:
        if in_background:
            subprocess.Popen([sys.executable, "-m", "anynpu.profiler.analysis", path,
                              json.dumps(options)])
        else:
            analyse_directory(path, **options)
    except (ValueError, RecordingError, OSError) as error:
        log.error("'%s' was not analysed: %s", path, explained(error))


def _check_steps(step_list):
    if step_list is None:
        return None
    good = isinstance(step_list, list) and step_list and all(
        isinstance(s, int) and not isinstance(s, bool) for s in step_list)
    ordered = sorted(step_list) if good else []
    if not good or ordered != list(range(ordered[0], ordered[-1] + 1)):
        log.warning("step_list is %r, expected whole numbers that follow each other; all steps are "
                    "taken", step_list)
        return None
    return ordered


def analyse(profiler_path, max_process_number=None, pretty=False, step_list=None,
            data_simplification=True):
    """Analyses a *_ascend_ms directory, or all of those in a folder, several at a time."""
    most = max((os.cpu_count() or 2) // 2, 1)
    if max_process_number is not None:
        if isinstance(max_process_number, bool) or not isinstance(max_process_number, int) \
                or max_process_number < 1:
            log.warning("max_process_number is %r, expected a whole number from 1 on; %d is taken",
                        max_process_number, most)
        else:
            most = max_process_number
    steps = _check_steps(step_list)
    paths = find_directories(profiler_path)
    if not paths:
        log.error("'%s' has nothing to analyse; expected a *_ascend_ms directory, or a folder with "
                  "some", profiler_path)
        return
    if len(paths) == 1:
        analyse_directory(paths[0], pretty, steps, data_simplification)
        return
    options = json.dumps({"pretty": pretty, "step_list": steps,
                          "data_simplification": data_simplification})
    waiting, running, failed = list(paths), [], []
    while waiting or running:
        while waiting and len(running) < most:
            path = waiting.pop(0)
            running.append((path, subprocess.Popen(
                [sys.executable, "-m", "anynpu.profiler.analysis", path, options])))
        path, process = running.pop(0)
        if process.wait() != 0:
            failed.append(path)
    if failed:
        log.error("these were not analysed: %s", ", ".join(failed))


def main(argv):
    try:
        analyse_directory(argv[0], **(json.loads(argv[1]) if len(argv) > 1 else {}))
    except (ValueError, RecordingError, OSError) as error:
        print(f"anynpu.profiler: {explained(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
