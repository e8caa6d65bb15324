#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of options into docs/ais_bench.md, from the table that argparse is made of."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "ais_bench.md")
MARK = re.compile(r"(<!-- options -->\n).*?(<!-- end -->)", re.DOTALL)


def main():
    sys.path.insert(0, os.path.join(os.environ.get("ANYNPU_BUILD_DIR", f"{ROOT}/build"), "python"))
    from ais_bench.infer.options import markdown
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(MARK.sub(lambda m: m.group(1) + markdown() + m.group(2), text))


if __name__ == "__main__":
    main()
