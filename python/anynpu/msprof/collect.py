# SPDX-License-Identifier: Apache-2.0
"""Collecting from outside: all of a program, a part of it by time or by hand, or the system."""
from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import time

from anynpu import paths
from anynpu.msprof import options, remote
from anynpu.msprof.console import export_all, query, say
from anynpu.msprof.recording import find_prof_directories

OLDEST_PYTHON = (3, 7, 5)


def default_output(program):
    """The folder of the program, or of the script that an interpreter runs."""
    for part in [*(p for p in program if p.endswith(".py")), *program[:1]]:
        if os.path.isfile(part):
            return os.path.dirname(os.path.abspath(part))
    return os.getcwd()


def check_python(path):
    """--python-path: an interpreter that is new enough. Ours does the work anyway."""
    try:
        text = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20)
        found = re.search(r"(\d+)\.(\d+)\.(\d+)", text.stdout + text.stderr)
    except OSError as error:
        raise options.UsageError(f"--python-path={path}: {error.strerror}") from error
    if not found or tuple(map(int, found.groups())) < OLDEST_PYTHON:
        raise options.UsageError(f"--python-path={path} is {found[0] if found else 'no Python'}; "
                                 "expected Python 3.7.5 or newer")


class Output:
    """Where profiles go: a folder of our own while they are written, so that two collections at
    once do not take each other's data."""

    def __init__(self, given, program):
        self.given = given
        self.folder = os.path.abspath(given.get("output") or default_output(program))
        self.own = os.path.join(self.folder, f"msprof_{os.getpid()}_collecting")
        self.paths = []
        self.failed = 0
        os.makedirs(self.own, exist_ok=True)

    def take(self):
        """Moves what is complete to where it belongs and exports it."""
        new = [shutil.move(path, self.folder) for path in find_prof_directories(self.own)]
        if new:
            self.failed |= export_all(new, self.given)
        self.paths += new

    def close(self):
        self.take()
        shutil.rmtree(self.own, ignore_errors=True)
        if self.paths:
            self.failed |= query(self.paths)
            say("INFO", "Process profiling data complete. Data is saved in "
                        + ", ".join(self.paths))


def environment(given):
    env = dict(os.environ)
    for item in filter(None, given.get("environment", "").split(";")):
        name, _, value = item.partition("=")
        env[name] = value
    if "osrt" in given.get("host-sys", "").split(","):
        library = os.path.join(paths.library_folder(), "libanynpu_os_calls.so")
        env["LD_PRELOAD"] = ":".join(filter(None, [library, env.get("LD_PRELOAD")]))
    return env


@contextlib.contextmanager
def started(program, output, env, **streams):
    say("INFO", "Start profiling....")
    try:
        process = subprocess.Popen(program, env=env, **streams)
    except OSError as error:
        os.rmdir(output.own)
        raise options.UsageError(f"'{program[0]}' cannot be started: {error.strerror}") from error
    try:
        yield process
    finally:
        try:
            process.wait()
        except KeyboardInterrupt:  # the program got it too
            process.wait()


def finish(process, output, nothing):
    say("INFO", f"The program ended with {process.returncode}.")
    output.close()
    if not output.paths:
        say("WARNING", f"Nothing was collected: {nothing}.")
    return process.returncode or output.failed or (0 if output.paths else 1)


NEVER = "the program never initialised AscendCL (acl.init)"


def collect_all(given, program, output, config):
    env = {**environment(given), "PROFILER_SAMPLECONFIG": json.dumps(config)}
    with started(program, output, env) as process:
        pass
    return finish(process, output, NEVER)


def _controlled(given, output, mode):
    """The environment of a program that waits for commands; how it is known is in remote.py."""
    return {**environment(given), "PROFILING_MODE": mode,
            "PROFILER_SAMPLECONFIG": json.dumps({"switch": "off", "output": output.own})}


def collect_for_a_time(given, program, output, config):
    delay, duration = int(given.get("delay", 0)), given.get("duration")
    env = _controlled(given, output, "delay_or_duration")
    begin, stopped = time.monotonic(), False
    with started(program, output, env) as process:
        group = remote.Launched(process, output.own, config)
        while group.alive():
            passed = time.monotonic() - begin
            if not group.collecting and not stopped and passed >= delay:
                group.start()
            if group.collecting and duration and group.seconds() >= int(duration):
                group.stop()
                stopped = True
            time.sleep(remote.PAUSE)
        group.close()
    lasted = time.monotonic() - begin
    return finish(process, output, NEVER if lasted >= delay else
                  f"the program ended after {lasted:.1f} s, before the delay of {delay} s")


def by_hand(group, output):
    """start, stop and quit on standard input, until quit, its end, or the end of the program."""
    say("INFO", "Dynamic profiling: type start, stop or quit.")
    for line in remote.lines(group):
        command = line.strip()
        if command == "start":
            group.start()
        elif command == "stop":
            group.stop()
            output.take()
        elif command == "quit":
            break
        elif command:
            say("ERROR", f"'{command}' is no command; expected start, stop or quit.")
    group.close()


def collect_by_hand(given, program, output, config):
    if "pid" in given:
        try:
            group = remote.Attached(int(given["pid"]), output.own, config)
        except remote.RemoteError:
            os.rmdir(output.own)
            raise
        with contextlib.suppress(KeyboardInterrupt):
            by_hand(group, output)
        group.close()
        output.close()
        return output.failed
    env = _controlled(given, output, "dynamic")
    with started(program, output, env, stdin=subprocess.DEVNULL) as process:
        by_hand(remote.Launched(process, output.own, config), output)
    code = finish(process, output, "no start was typed while the program used AscendCL")
    return code if output.paths else process.returncode


def collect_system(given, output, config):
    from anynpu.profiler import core
    settings = {k: str(v) for k, v in config.items() if k not in ("switch", "output")}
    settings["app"] = "system"
    settings["host_sys_pid"] = given.get("host-sys-pid", "all")
    if settings["host_sys_pid"] != "all" and not os.path.exists(
            f"/proc/{settings['host_sys_pid']}"):
        os.rmdir(output.own)
        raise options.UsageError(f"--host-sys-pid={given['host-sys-pid']}: there is no such "
                                 "process")
    say("INFO", f"Start profiling the system for {given['sys-period']} s....")
    session = core.Session(output.own, core.API, core.NO_METRICS, settings)
    with contextlib.suppress(KeyboardInterrupt):
        time.sleep(int(given["sys-period"]))
    session.stop()
    output.close()
    return output.failed


def collect(given, program):
    if "python-path" in given:
        check_python(given["python-path"])
    for name in given:
        if options.OPTIONS[name].card and given[name] != "off":
            say("WARNING", f"--{name} {options.CARD}.")
    output = Output(given, program)
    config = options.sample_config(given, output.own, os.path.basename(program[0])
                                   if program else "")
    if given.get("dynamic") == "on":
        return collect_by_hand(given, program, output, config)
    if "delay" in given or "duration" in given:
        return collect_for_a_time(given, program, output, config)
    if "sys-period" in given:
        return collect_system(given, output, config)
    return collect_all(given, program, output, config)
