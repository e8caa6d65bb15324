# SPDX-License-Identifier: Apache-2.0
"""Reads what libanynpu_check.so wrote (src/check/report.h), and finds the lines of native code."""
import os
import shutil
import subprocess
from dataclasses import dataclass, field


@dataclass
class Frame:
    file: str
    line: int  # 0: unknown
    function: str

    def text(self):
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place} in {self.function}" if self.function else place


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
                frame = lines.frame(name, int(line), function) if how == "native" \
                    else Frame(name, int(line), function)
                current.places.setdefault(label, []).append(frame)
            elif cells[0] == "count" and len(cells) == 4 and cells[1] in found:
                found[cells[1]].count, found[cells[1]].bytes = int(cells[2]), int(cells[3])
            elif cells[0] == "end":
                ended = True
    return list(found.values()), ended


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
    return found, cut
