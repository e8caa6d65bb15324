#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks all pages without building the site: that links lead to files, folders and headings, that the
rows of a table have as many cells as its head, and that every page below docs/ is reached from the site's navigation. Addresses of the web are not opened.

    python3 tools/site/links.py      prints what leads nowhere; the exit code says whether any does
"""
import functools
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "lint"))
import check_layers  # noqa: E402

LINK = re.compile(r"(\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)\)")
FENCE = re.compile(r"^( *)(`{3,}).*?^\1\2`*$", re.M | re.S)
SPAN = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
NAVIGATION = "tools/site/navigation.txt"


@functools.lru_cache(maxsize=None)
def tracked_files():
    return tuple(check_layers.tracked_files(ROOT))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def target(page, link):
    """The path in the tree that a link of a page leads to; None for addresses and for anchors."""
    if re.match(r"\w+:", link) or link.startswith("#"):
        return None
    return os.path.normpath(os.path.join(os.path.dirname(page), link.split("#")[0]))


def anchor(heading):
    """As GitHub and mkdocs make it from the text of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower()).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


@functools.lru_cache(maxsize=None)
def anchors(page):
    text = FENCE.sub("", read(page))
    found = [anchor(h) for h in re.findall(r"^#+ (.+)$", text, re.M)]
    return set(found) | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def problems():
    names = set(tracked_files())
    folders = {"/".join(n.split("/")[:i]) for n in names for i in range(1, n.count("/") + 1)}
    found = []
    for page in sorted(n for n in names if n.endswith(".md")):
        text = FENCE.sub(lambda m: "\n" * m[0].count("\n"), read(page))
        text = SPAN.sub(lambda m: " " * len(m[0]), text) if "](" in text else text
        for match in LINK.finditer(text):
            link = match[2]
            line = text.count("\n", 0, match.start()) + 1
            path = target(page, link)
            if path is not None and path not in names and path not in folders:
                found.append(f"{page}:{line}: {link} is not there")
                continue
            heading = link.partition("#")[2]
            on = page if path is None else path
            if heading and not re.match(r"\w+:", link) and on.endswith(".md") and \
                    heading not in anchors(on):
                found.append(f"{page}:{line}: {on} has no heading #{heading}")
    return found


def cells(line):
    return len(re.findall(r"(?<!\\)\|", line))


def uneven_tables():
    """Rows with more or fewer cells than the head of their table."""
    found = []
    for page in sorted(n for n in tracked_files() if n.endswith(".md")):
        text = FENCE.sub(lambda m: "\n" * m[0].count("\n"), read(page))
        lines, head = text.splitlines(), None
        for number, line in enumerate(lines, 1):
            if not line.lstrip().startswith("|"):
                head = None
            elif head is None:
                head = cells(line)
            elif cells(line) != head:
                found.append(f"{page}:{number}: a row of {cells(line) - 1} cells in a table of "
                             f"{head - 1}")
    return found


def outside_of_navigation():
    """Pages below docs/ that the site's navigation does not list."""
    listed = set(re.findall(r"([\w./-]+\.md)\s*$", read(NAVIGATION), re.M))
    return [n for n in tracked_files() if n.startswith("docs/") and n.endswith(".md")
            and n not in listed and not n.startswith("docs/decisions/")]  # listed by their README


def main():
    found = problems() + uneven_tables() + [f"{n}: not in the navigation of {NAVIGATION}"
                          for n in outside_of_navigation()]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
