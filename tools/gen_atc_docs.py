#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders tools/atc/options.def, with the counts of tools/atc/option_uses.tsv, into the table of
docs/atc.md; --check fails when the page is out of date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(rf"^X\((\w+), (works|no_effect|refused), {TEXT}, {TEXT}, {TEXT}\)$", re.M)
BEGIN, END = "<!-- options: begin -->\n", "<!-- options: end -->\n"
HEADS = {
    "works": "",
    "no_effect": "**Accepted without effect off the card** (named in the log at level info):\n\n",
    "refused": "**Refused**, because ignoring them would change the result:\n\n",
}


def plain(text):
    return text.replace('\\"', '"').replace("|", "\\|")


def render():
    text = (ROOT / "tools/atc/options.def").read_text()
    rows = ROW.findall(text)
    declared = len(re.findall(r"^X\(", text, re.M))
    if len(rows) != declared:
        sys.exit(f"options.def: {declared} rows, {len(rows)} understood; one row a line")
    uses = dict(line.split("\t")[:2]
                for line in (ROOT / "tools/atc/option_uses.tsv").read_text().splitlines()[1:])
    unknown = uses.keys() - {row[0] for row in rows}
    if unknown:
        sys.exit(f"options.def lacks options that projects use: {', '.join(sorted(unknown))}")
    parts = ["`uses`: how often the option stands in public projects that were searched.\n"]
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
    return BEGIN + "\n".join(parts) + END


def main():
    page = ROOT / "docs/atc.md"
    text = page.read_text()
    start, stop = text.index(BEGIN), text.index(END) + len(END)
    fresh = text[:start] + render() + text[stop:]
    if "--check" in sys.argv[1:]:
        if fresh != text:
            print("docs/atc.md is out of date: run tools/gen_atc_docs.py")
        return int(fresh != text)
    page.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
