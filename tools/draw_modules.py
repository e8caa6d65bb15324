#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/modules.svg: the modules of src/modules.tsv, their sizes and who includes whom.

    tools/draw_modules.py            write the picture
    tools/draw_modules.py --check    fail when the picture is out of date

The front doors are at the top; every other module is one row below the lowest that includes it.
Only arrows that say something are drawn: where A includes B and B includes C, A's arrow to C is
left out. The check wants the same modules and arrows, and line counts within a tenth, so that not
every edit needs a new picture.
"""
import os
import re
import sys
from xml.sax.saxutils import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join(ROOT, "docs", "modules.svg")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SOURCE = (".cpp", ".h", ".inc", ".def", ".c")
COLOURS = {"core": "#dbe7f6", "door": "#fde8c8", "own": "#e3efda"}
BOX, GAP, ROW = (168, 48), 14, 112


class Module:
    def __init__(self, folder, target, holds):
        self.folder, self.target, self.holds = folder, target, holds
        self.lines = self.test_lines = 0
        self.includes = set()
        self.row = 0  # from the top


def read_modules(root):
    with open(os.path.join(root, "src", "modules.tsv"), encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            folder, target, _, holds = line.split("\t")
            yield Module(folder, target, holds)


def owner(path, folders):
    """The module that a path from src/ belongs to: the longest folder that it begins with."""
    return max((f for f in folders if path.startswith(f + "/")), key=len, default=None)


def measure(root=ROOT):
    """{folder: Module} with sizes and includes, in the order of src/modules.tsv."""
    modules = {module.folder: module for module in read_modules(root)}
    top = os.path.join(root, "src")
    for folder, _, files in os.walk(top):
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), top)
            module = owner(path, modules)
            if module is None or not name.endswith(SOURCE):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            if "_test." in name:
                modules[module].test_lines += text.count("\n")
                continue
            modules[module].lines += text.count("\n")
            targets = {owner(target, modules) for target in INCLUDE.findall(text)}
            modules[module].includes |= targets - {None, module}
    return modules


def reachable(modules, start):
    found, waiting = set(), list(modules[start].includes)
    while waiting:
        folder = waiting.pop()
        if folder not in found:
            found.add(folder)
            waiting += modules[folder].includes
    return found


def arrows(modules):
    """(from, to) of the includes that no other path says already."""
    below = {folder: reachable(modules, folder) for folder in modules}
    return [(a, b) for a, module in modules.items() for b in modules
            if b in module.includes
            and not any(b in below[other] for other in module.includes if other != b)]


def place(modules):
    """{folder: (x, y)} of the boxes, and the size of the picture."""
    for module in reversed(modules.values()):  # what includes a module has its row already
        for b in module.includes:
            modules[b].row = max(modules[b].row, module.row + 1)
    last = max(module.row for module in modules.values())
    rows = [[f for f, m in modules.items() if m.row == row] for row in range(last, -1, -1)]
    width = max(len(row) for row in rows) * (BOX[0] + GAP) + GAP
    spots = {}
    for number, row in enumerate(rows):
        def middle(folder):
            below = [spots[b][0] for b in modules[folder].includes if b in spots]
            return sum(below) / len(below) if below else width / 2

        row = sorted(row, key=lambda folder: (round(middle(folder)), folder))
        step = width / len(row)
        for index, folder in enumerate(row):
            spots[folder] = (step * (index + 0.5) - BOX[0] / 2, 30 + (last - number) * ROW)
    return spots, (width, 30 + (last + 1) * ROW)


def thousands(lines):
    return f"{lines / 1000:.1f}k" if lines >= 1000 else str(lines)


def draw(modules):
    spots, (width, height) = place(modules)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
           'font-family="sans-serif" font-size="12">',
           "<!-- Made by tools/draw_modules.py; do not edit. -->",
           f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
           '<text x="18" y="18" fill="#555">A line is an include, from the upper box to the '
           "lower. Blue: libanynpu.so. Yellow: the vendor's libraries. Green: loaded in front "
           "of them.</text>"]
    for a, b in arrows(modules):
        (ax, ay), (bx, by) = spots[a], spots[b]
        x1, y1, x2, y2 = ax + BOX[0] / 2, ay + BOX[1], bx + BOX[0] / 2, by
        bend = (y2 - y1) / 2
        out.append(f'<path class="include" data-from="{a}" data-to="{b}" fill="none" '
                   f'stroke="#8898aa" stroke-width="1.2" d="M{x1:.0f} {y1:.0f} C{x1:.0f} '
                   f'{y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"/>')
    for folder, module in modules.items():
        x, y = spots[folder]
        out.append(
            f'<g class="module" data-folder="{folder}" data-lines="{module.lines}" '
            f'data-tests="{module.test_lines}"><title>src/{folder}: {escape(module.holds)}</title>'
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX[0]}" height="{BOX[1]}" rx="6" '
            f'fill="{COLOURS[module.target]}" stroke="#5b6b7c"/>'
            f'<text x="{x + BOX[0] / 2:.0f}" y="{y + 20:.0f}" text-anchor="middle" '
            f'font-weight="bold">{folder}</text>'
            f'<text x="{x + BOX[0] / 2:.0f}" y="{y + 37:.0f}" text-anchor="middle" fill="#444">'
            f"{thousands(module.lines)} lines, {thousands(module.test_lines)} of tests</text></g>")
    return "\n".join([*out, "</svg>", ""])


def differences(picture, modules):
    """What a picture says that is not so."""
    drawn = {folder: (int(lines), int(tests)) for folder, lines, tests in re.findall(
        r'data-folder="([^"]+)" data-lines="(\d+)" data-tests="(\d+)"', picture)}
    out = [f"module {folder} is drawn or there, not both" for folder in drawn.keys() ^ modules]
    seen = set(re.findall(r'data-from="([^"]+)" data-to="([^"]+)"', picture))
    out += [f"arrow {a} -> {b} is drawn or there, not both" for a, b in seen ^ set(arrows(modules))]
    for folder in drawn.keys() & modules:
        for what, was, now in zip(("lines", "lines of tests"), drawn[folder],
                                  (modules[folder].lines, modules[folder].test_lines)):
            if abs(was - now) > max(200, now / 10):
                out.append(f"{folder} has {now} {what}, drawn are {was}")
    return sorted(out)


def main():
    modules = measure()
    if "--check" in sys.argv[1:]:
        with open(PICTURE, encoding="utf-8") as file:
            found = differences(file.read(), modules)
        if found:
            sys.exit("\n".join([*found, "docs/modules.svg is old; run tools/draw_modules.py"]))
        return
    with open(PICTURE, "w", encoding="utf-8") as file:
        file.write(draw(modules))


if __name__ == "__main__":
    main()
