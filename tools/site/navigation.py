# SPDX-License-Identifier: Apache-2.0
"""The front page of the site: the README, and the navigation of navigation.txt as Sphinx takes it."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))


def sections():
    """[(heading, [(title, page)])]"""
    found = []
    with open(os.path.join(HERE, "navigation.txt"), encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                found.append((line.strip("[]"), []))
            else:
                title, _, page = line.rpartition(": ")
                found[-1][1].append((title, page))
    return found


def front_page(readme):
    text = re.sub(r"<!--.*?-->\n?", "", readme, flags=re.S)
    for heading, pages in sections():
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n:titlesonly:\n\n"
        text += "".join(f"{title} <{page[:-3]}>\n" for title, page in pages)
        text += "```\n"
    return text
