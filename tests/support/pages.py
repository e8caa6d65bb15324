# SPDX-License-Identifier: Apache-2.0
"""The pages of this repository: every tracked Markdown file."""
import functools
import os
import subprocess

from build_tree import ROOT


@functools.lru_cache(maxsize=None)
def page_names():
    if os.path.isdir(os.path.join(ROOT, ".git")):
        done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT,
                              capture_output=True, text=True, check=True)
        return tuple(n for n in sorted(done.stdout.split()) if os.path.exists(f"{ROOT}/{n}"))
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "build", "dist"))]
        found += [os.path.relpath(os.path.join(folder, n), ROOT)
                  for n in names if n.endswith(".md")]
    return tuple(sorted(found))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()
