# SPDX-License-Identifier: Apache-2.0
"""The command `anynpu check`."""
import json
import os
import signal
import subprocess
import sys
import tempfile

from .. import paths
from ..whole_file import write_whole
from . import findings, suppressions

FOUND = 99  # the exit code when the program itself ended well


def add_arguments(sub):
    sub.description = ("Runs a program and reports at its end what it did wrong: leaks, double "
                       "frees, use after destroy, copies past the end, results read before their "
                       "stream was synchronized, races, and more (docs/check.md).")
    sub.add_argument("--json", action="store_true", help="the report as JSON")
    sub.add_argument("--guard", action="store_true",
                     help="also plain loads and stores, by page protection")
    sub.add_argument("--suppress", metavar="FILE", action="append", default=[],
                     help="lines 'kind place': findings to leave out")
    sub.add_argument("-o", "--output", metavar="FILE",
                     help="the report goes to this file instead of standard error")
    sub.add_argument("--exit-code", type=int, default=FOUND, metavar="N",
                     help=f"when something was found and the program ended well ({FOUND})")
    sub.add_argument("program", help="a Python file, or any program that uses the libraries")
    sub.add_argument("arguments", nargs="...", help="given to the program as they are")


def text_report(found, cut, hidden, program):
    lines = []
    for number, finding in enumerate(found, start=1):
        times = f" ({finding.count} times" if finding.count > 1 else ""
        if times:
            times += f", {finding.bytes} bytes in all)" if finding.bytes else ")"
        lines.append(f"{number}. {finding.kind}{times}: {finding.message}")
        for label, frames in finding.places.items():
            for i, frame in enumerate(frames):
                lines.append(f"     {label if i == 0 else '':>16}  {frame.text()}")
        lines.append("")
    for process in cut:
        lines.append(f"Process {process} ended without its exit handlers: leaks are not known.")
    total = len(found)
    counted = "nothing was found" if total == 0 else \
        f"{total} finding{'' if total == 1 else 's'}"
    left_out = f", {hidden} left out by suppressions" if hidden else ""
    lines.append(f"anynpu check: {counted}{left_out} in {program}")
    return "\n".join(lines) + "\n"


def json_report(found, cut, hidden, program, code):
    return json.dumps({
        "program": program, "exit_code": code, "suppressed": hidden, "cut_short": cut,
        "findings": [{
            "kind": f.kind, "message": f.message, "count": f.count, "bytes": f.bytes,
            "process": f.process,
            "places": [{"label": label, "frames": [vars(frame) for frame in frames]}
                       for label, frames in f.places.items()]} for f in found]}, indent=1) + "\n"


def command_line(program, arguments):
    if program.endswith(".py") or (os.path.isdir(program)
                                   and os.path.isfile(os.path.join(program, "__main__.py"))):
        return [sys.executable, program, *arguments]
    return [program, *arguments]


def run_program(command, env):
    """The program's exit code, as a shell gives it. Ctrl-C and SIGTERM are left to the program."""
    child = subprocess.Popen(command, env=env)
    before = [(number, signal.signal(number, handler)) for number, handler in (
        (signal.SIGINT, signal.SIG_IGN), (signal.SIGTERM, lambda *_: child.terminate()))]
    try:
        code = child.wait()
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def checked_environment(base, folder, guard):
    env = dict(base)
    library = os.path.join(paths.library_folder(), "libanynpu_check.so")
    env["LD_PRELOAD"] = " ".join(filter(None, [library, env.get("LD_PRELOAD", "")]))
    env["ANYNPU_CHECK"] = folder + (",guard" if guard else "")
    return env


def main(args, environment):
    try:
        rules = [rule for path in args.suppress for rule in suppressions.read(path)]
    except suppressions.SuppressionError as error:
        print(f"anynpu check: {error}", file=sys.stderr)
        return 2
    if args.program.endswith(".py") and not os.path.exists(args.program):
        print(f"anynpu check: there is no file '{args.program}' in {os.getcwd()}; expected the "
              "path of a Python program", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="anynpu_check_") as folder:
        env = checked_environment(environment, folder, args.guard)
        sys.stdout.flush()
        try:
            code = run_program(command_line(args.program, args.arguments), env)
        except OSError as error:
            print(f"anynpu check: cannot start '{args.program}': {error.strerror}; expected a "
                  "Python file (.py) or an executable program", file=sys.stderr)
            return 2
        everything, cut = findings.read_folder(folder)
    everything = [f for f in everything if not suppressions.is_ours(f)]
    found = [f for f in everything if not suppressions.is_suppressed(f, rules)]
    hidden = len(everything) - len(found)
    code = code or (args.exit_code if found else 0)
    text = json_report(found, cut, hidden, args.program, code) if args.json else \
        text_report(found, cut, hidden, args.program)
    if args.output:
        write_whole(args.output, text)
    else:
        sys.stderr.write(text)
    return code
