#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the text of a terminal as an SVG picture: the README's picture of a run.

    make demo | tee build/demo.txt
    python tools/draw_terminal.py build/demo.txt docs/demo.svg --title "make demo"

Plain SVG text, no script and no fonts of its own. Lines that start with '$' are commands; lines
that start with '---' are headings. `--cut FIRST:LAST` keeps a range of lines.
"""
import argparse
from xml.sax.saxutils import escape

LINE, TOP, LEFT, CHAR = 18, 58, 20, 7.83
COLOURS = {"$": "#7ee787", "-": "#79c0ff", "": "#d0d7de"}


def colour(line):
    if line.startswith("$"):
        return COLOURS["$"]
    return COLOURS["-"] if line.startswith("---") else COLOURS[""]


def wrapped(line, width):
    """A line in pieces of at most `width` characters; later pieces are indented."""
    pieces = [line[:width]]
    rest = line[width:]
    while rest:
        pieces.append("    " + rest[:width - 4])
        rest = rest[width - 4:]
    return [(piece, colour(line)) for piece in pieces]


def render(lines, title, width):
    rows = [row for line in lines for row in wrapped(line.rstrip().expandtabs(), width)]
    w, h = LEFT * 2 + CHAR * width, TOP + LINE * len(rows) + 14
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{h}" '
             f'viewBox="0 0 {w:.0f} {h}" role="img">',
             f"<title>{escape(title)}</title>",
             f'<rect width="{w:.0f}" height="{h}" rx="8" fill="#0d1117"/>',
             f'<path d="M8 0h{w - 16:.0f}a8 8 0 0 1 8 8v26H0V8a8 8 0 0 1 8-8z" fill="#21262d"/>',
             *(f'<circle cx="{20 + 20 * i}" cy="17" r="6" fill="{fill}"/>'
               for i, fill in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))),
             f'<text x="{w / 2:.0f}" y="22" fill="#8b949e" font-size="13" text-anchor="middle" '
             f'font-family="sans-serif">{escape(title)}</text>',
             '<g font-family="ui-monospace,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" '
             'font-size="13" xml:space="preserve">']
    for number, (text, fill) in enumerate(rows):
        if text.strip():
            parts.append(f'<text x="{LEFT}" y="{TOP + LINE * number}" fill="{fill}">'
                         f"{escape(text)}</text>")
    return "\n".join([*parts, "</g>", "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", help="file with what the terminal showed")
    parser.add_argument("svg", help="file to write")
    parser.add_argument("--title", default="")
    parser.add_argument("--width", type=int, default=100, help="characters a line")
    parser.add_argument("--cut", help="FIRST:LAST line to keep, counted from 1")
    args = parser.parse_args()
    with open(args.text, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if args.cut:
        first, last = args.cut.split(":")
        lines = lines[int(first or 1) - 1:int(last) if last else None]
    with open(args.svg, "w", encoding="utf-8") as file:
        file.write(render(lines, args.title, args.width))


if __name__ == "__main__":
    main()
