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
from . import findings, page, suppressions

FOUND = 99  # the exit code when the program itself ended well


def add_arguments(sub):
    sub.description = ("Runs a program and reports at its end what it did wrong: leaks, double "
                       "frees, use after destroy, copies past the end, results read before their "
                       "stream was synchronized, races, and more (docs/check.md).")
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the report as JSON")
    form.add_argument("--html", action="store_true",
                      help="the report as a page, with the source lines (with -o FILE)")
    guard = sub.add_mutually_exclusive_group()
    guard.add_argument("--guard", action="store_true",
                       help="page protection for all host memory, not only that of malloc_host")
    guard.add_argument("--no-guard", action="store_true", help="no page protection at all")
    sub.add_argument("--suppress", metavar="FILE", action="append", default=[],
                     help="lines 'kind place': findings to leave out")
    sub.add_argument("-o", "--output", metavar="FILE",
                     help="the report goes to this file instead of standard error")
    sub.add_argument("--exit-code", type=int, default=FOUND, metavar="N",
                     help=f"when something was found and the program ended well ({FOUND})")
    sub.add_argument("program", help="a Python file, or any program that uses the libraries")
    sub.add_argument("arguments", nargs="...", help="given to the program as they are")


def times_of(finding):
    if finding.count == 1:
        return ""
    return f" ({finding.count} times" + (
        f", {finding.bytes} bytes in all)" if finding.bytes else ")")


def leak_lines(found):
    """What leaks keep, by call site, the largest first."""
    leaks = [one for one in found if one.kind.startswith("leak-") and one.bytes]
    if len(leaks) < 2:
        return []
    lines = [f"{'bytes':>14} {'blocks':>7}  allocated at"]
    for one in sorted(leaks, key=lambda leak: -leak.bytes):
        frames = next(iter(one.places.values()), [])
        lines.append(f"{one.bytes:>14,} {one.count:>7,}  {frames[0].text() if frames else '?'}")
    total = sum(one.bytes for one in leaks)
    return [*lines, f"{total:>14,} {sum(one.count for one in leaks):>7,}  in all", ""]


def text_report(found, cut, hidden, program):
    lines = []
    for number, finding in enumerate(found, start=1):
        lines.append(f"{number}. {finding.kind}{times_of(finding)}: {finding.message}")
        for label, frames in finding.places.items():
            for i, text in enumerate(findings.folded(frames)):
                lines.append(f"     {label if i == 0 else '':>16}  {text}")
        lines.append("")
    for process in cut:
        lines.append(f"Process {process} ended without its exit handlers: leaks are not known.")
    lines += leak_lines(found)
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


def checked_environment(base, folder, args):
    env = dict(base)
    library = os.path.join(paths.library_folder(), "libanynpu_check.so")
    env["LD_PRELOAD"] = " ".join(filter(None, [library, env.get("LD_PRELOAD", "")]))
    env["ANYNPU_CHECK"] = folder + (",guard" if args.guard else ",no-guard" if args.no_guard
                                    else "")
    return env


def main(args, environment):
    try:
        rules = [rule for path in args.suppress for rule in suppressions.read(path)]
    except suppressions.SuppressionError as error:
        print(f"anynpu check: {error}", file=sys.stderr)
        return 2
    if args.html and not args.output:
        print("anynpu check: --html writes a page; name its file with -o report.html",
              file=sys.stderr)
        return 2
    if args.program.endswith(".py") and not os.path.exists(args.program):
        print(f"anynpu check: there is no file '{args.program}' in {os.getcwd()}; expected the "
              "path of a Python program", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="anynpu_check_") as folder:
        env = checked_environment(environment, folder, args)
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
        page.page_of(found, cut, hidden, [args.program, *args.arguments]) if args.html else \
        text_report(found, cut, hidden, args.program)
    if args.output:
        write_whole(args.output, text)
    else:
        sys.stderr.write(text)
    return code
