# SPDX-License-Identifier: Apache-2.0
"""Reads what libanynpu_check.so wrote (src/check/report.h), and finds the lines of native code."""
import os
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass, field

from . import native_results

NATIVE_RESULT = "ignored-error-in-native-code"  # a finding if the instructions say so
# Frames that say nothing about the program: (whose, modules or files, functions).
OTHERS = (("libc", re.compile(r"/(?:libc|libpthread|ld-linux[\w-]*)[.-][^/]*$"),
           re.compile(r"^(?:_start|__libc_start\w*|start_thread|clone3?)$")),
          ("libstdc++", re.compile(r"/libstdc\+\+[^/]*$"), re.compile(r"^std::thread::.*")),
          ("Python", re.compile(r"/(?:libpython|python)3[\w.]*$|^<frozen "), re.compile(r"^$^")))


@dataclass
class Frame:
    file: str
    line: int  # 0: unknown
    function: str
    of: str = ""  # "libc" or "Python" for a frame that is none of the program's

    def text(self):
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place} in {self.function}" if self.function else place


STANDARD_LIBRARY = os.path.join(sysconfig.get_path("stdlib"), "")
SITE_PACKAGES = ("site-packages", "dist-packages")


def owner_of(module, frame):
    """Whose a frame is, when it is not the program's."""
    for owner, modules, functions in OTHERS:
        if modules.search(module) or functions.search(frame.function.split("@")[0]):
            return owner
    if frame.file.startswith(STANDARD_LIBRARY) and not any(
            f"/{name}/" in frame.file for name in SITE_PACKAGES):
        return "Python"
    return ""


def folded(frames):
    """Lines of a call stack; frames of libc and of Python's own are one line per group."""
    lines, hidden = [], {}

    def end_group():
        for owner, count in hidden.items():
            lines.append(f"({count} frame{'' if count == 1 else 's'} of {owner})")
        hidden.clear()
    shown = frames if all(frame.of for frame in frames) else None
    for frame in frames:
        if frame.of and not shown:
            hidden[frame.of] = hidden.get(frame.of, 0) + 1
            continue
        end_group()
        lines.append(frame.text())
    end_group()
    return lines


@dataclass
class Finding:
    kind: str
    message: str
    process: int
    count: int = 1
    bytes: int = 0
    places: dict = field(default_factory=dict)  # label -> frames, the innermost first


class Lines:
    """File and line of an address in a program or library, by addr2line or llvm-symbolizer."""

    def __init__(self):
        self.known = {}
        self.tool = shutil.which("addr2line") or shutil.which("llvm-symbolizer")

    def frame(self, module, address, function):
        key = (module, address)
        if key not in self.known:
            self.known[key] = self._ask(module, address)
        file, line, name = self.known[key]
        if not file:
            return Frame(f"{module}+{address:#x}", 0, name or function)
        return Frame(file, line, name or function)

    def _ask(self, module, address):
        if not self.tool:
            return "", 0, ""
        options = ["-f", "-C", "-e", module] if self.tool.endswith("addr2line") else \
            ["-f", "-C", "--output-style=GNU", f"--obj={module}"]
        try:
            done = subprocess.run([self.tool, *options, hex(address)], capture_output=True,
                                  text=True, timeout=20, env={**os.environ, "LD_PRELOAD": ""})
        except (OSError, subprocess.TimeoutExpired):
            return "", 0, ""
        name, place = (done.stdout.splitlines() + ["", ""])[:2]
        file, _, line = place.split(" ")[0].rpartition(":")
        name = "" if name == "??" else name.split("(")[0]
        if not file or file.startswith("??") or not line.isdigit() or line == "0":
            return "", 0, name
        return file, int(line), name


def read_process(path, lines):
    """The findings of one process, and whether it came to its end."""
    found, current, ended = {}, None, False
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            cells = text.rstrip("\n").split("\t")
            if cells[0] == "finding" and len(cells) == 4:
                current = found[cells[1]] = Finding(cells[2], cells[3], int(os.path.basename(path)))
            elif cells[0] == "frame" and len(cells) == 6 and current:
                label, how, name, line, function = cells[1:]
                is_first = label not in current.places
                if how == "native" and is_first and current.kind == NATIVE_RESULT:
                    current.kind = "ignored-error" if native_results.is_dropped(
                        name, int(line) + 1) else ""
                frame = lines.frame(name, int(line), function) if how == "native" \
                    else Frame(name, int(line), function)
                frame.of = owner_of(name, frame)
                current.places.setdefault(label, []).append(frame)
            elif cells[0] == "count" and len(cells) == 4 and cells[1] in found:
                found[cells[1]].count, found[cells[1]].bytes = int(cells[2]), int(cells[3])
            elif cells[0] == "end":
                ended = True
    return [one for one in found.values() if one.kind not in ("", NATIVE_RESULT)], ended


def read_folder(folder):
    """The findings of all processes, and the processes that ended before leaks were checked."""
    lines, found, cut = Lines(), [], []
    for name in sorted(os.listdir(folder), key=int):
        path = os.path.join(folder, name)
        if os.path.getsize(path) == 0:
            continue
        mine, ended = read_process(path, lines)
        found += mine
        if not ended:
            cut.append(int(name))
    return in_order(found), cut


def in_order(found):
    """As they came; leaks last, those with most bytes first."""
    return sorted(found, key=lambda one: (one.kind.startswith("leak-"),
                                          -one.bytes if one.kind.startswith("leak-") else 0))
