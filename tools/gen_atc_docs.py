#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders tools/atc/options.def, with the counts of tools/atc/option_uses.tsv, and the passes of
src/compile/passes.def into the tables of docs/atc.md; --check fails when the page is out of
date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(rf"^X\((\w+), (works|no_effect|refused), {TEXT}, {TEXT}, {TEXT}\)$", re.M)
PASS = re.compile(rf"^X\((\w+), (unknown|known), (by_name|always_on), {TEXT}\)$", re.M)
HEADS = {
    "works": "",
    "no_effect": "**Accepted without effect** (they only matter on a card; the log names them at "
                 "level info):\n\n",
    "refused": "**Refused**, because ignoring them would change the result:\n\n",
}


def plain(text):
    return text.replace('\\"', '"').replace("|", "\\|")


def read_rows(path, row):
    text = (ROOT / path).read_text()
    rows = row.findall(text)
    declared = len(re.findall(r"^X\(", text, re.M))
    if len(rows) != declared:
        sys.exit(f"{path}: {declared} rows, {len(rows)} understood; one row a line")
    return rows


def render_passes():
    lines = ["| pass | runs | can be switched off | what it does |", "|---|---|---|---|"]
    for name, shapes, off, does in read_rows("src/compile/passes.def", PASS):
        runs = "before shapes are inferred" if shapes == "unknown" else "when all shapes are known"
        lines.append(f"| `{name}` | {runs} | {'yes' if off == 'by_name' else 'no'} | "
                     f"{plain(does)} |")
    return "\n".join(lines) + "\n"


def render_options():
    rows = read_rows("tools/atc/options.def", ROW)
    uses = dict(line.split("\t")[:2]
                for line in (ROOT / "tools/atc/option_uses.tsv").read_text().splitlines()[1:])
    unknown = uses.keys() - {row[0] for row in rows}
    if unknown:
        sys.exit(f"options.def lacks options that projects use: {', '.join(sorted(unknown))}")
    parts = ["`uses`: how often the option appears in the public projects that we searched.\n"]
    for state, head in HEADS.items():
        lines = ["| option | value | default | uses | meaning |", "|---|---|---|---|---|"]
        chosen = [row for row in rows if row[1] == state]
        chosen.sort(key=lambda row: -int(uses.get(row[0], 0)))
        for name, _, grammar, default, meaning in chosen:
            value = f"`{plain(grammar)}`" if grammar else ""
            default = f"`{default}`" if default else ""
            lines.append(f"| `--{name}` | {value} | {default} | {uses.get(name, '')} | "
                         f"{plain(meaning)} |")
        parts.append(head + "\n".join(lines) + "\n")
    return "\n".join(parts)


def replaced(text, mark, table):
    """The page with the part between the marks of that name replaced."""
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->\n"
    start, stop = text.index(begin) + len(begin), text.index(end)
    return text[:start] + table + text[stop:]


def main():
    page = ROOT / "docs/atc.md"
    text = page.read_text()
    fresh = replaced(text, "options", render_options())
    fresh = replaced(fresh, "passes", render_passes())
    if "--check" in sys.argv[1:]:
        if fresh != text:
            print("docs/atc.md is out of date: run tools/gen_atc_docs.py")
        return int(fresh != text)
    page.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
