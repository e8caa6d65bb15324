# SPDX-License-Identifier: Apache-2.0
"""Rules of the source tree that a compiler does not check.

- A module of src/ includes only itself and modules above it in src/modules.tsv.
- Front doors (src/api/*) share the files directly in src/api; none includes another one.
- Folders of src/ and of src/ops include each other in one direction only: no cycles. Tests may
  include what they like.
- Public headers (include/) are for the front doors and what stands before them: only src/api and
  src/check include them.
- Every source file starts with the SPDX line; no file is named after nothing (util, common, ...).
- No path of a developer's machine in any file.
- Files over 600 lines are listed, as a hint to split them.

Run it alone for the list of findings, or through pytest (tests/python/project/test_layers.py).
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def module_order(root=ROOT):
    """Folders of src/ in layer order, from src/modules.tsv."""
    with open(os.path.join(root, "src", "modules.tsv"), encoding="utf-8") as file:
        folders = [line.split("\t")[0].split("/")[0] for line in file.read().splitlines()[1:]]
    return list(dict.fromkeys(folders))


MODULES = module_order()
RANK = {name: i for i, name in enumerate(MODULES)}

SOURCE = (".cpp", ".h", ".c", ".py", ".cmake", ".sh", ".def", ".inc")
TEXT = SOURCE + (".md", ".txt", ".tsv", ".json", ".toml", ".yaml", ".yml", ".cfg", ".map")
EMPTY_NAMES = {"util", "utils", "common", "helper", "helpers", "misc", "tools", "stuff"}
LONGEST = 600

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
# Other /home paths stand in the vendor's examples; the home of whoever runs this does not.
HOME = os.path.expanduser("~").rstrip("/") + "/"
MACHINE_PATH = re.compile(r"(?<![\w.])(?:/(?:root|work)/" + (f"|{re.escape(HOME)}" if len(HOME) > 1
                                                             else "") + ")")


def tracked_files(root=ROOT):
    """Files that git knows or would add; without git, everything outside of build folders."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
        return sorted(n for n in names if os.path.isfile(os.path.join(root, n)))
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(("build", ".", "__pycache__"))]
        found += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return sorted(found)


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def check_includes(name, text):
    parts = name.split("/")
    if parts[0] != "src" or len(parts) < 3 or not name.endswith((".cpp", ".h", ".inc", ".c")):
        return
    module = parts[1]
    if module not in RANK:
        yield f"{name}: folder src/{module} is not in src/modules.tsv"
        return
    for match in INCLUDE.finditer(text):
        target = match.group(2)
        line = text.count("\n", 0, match.start()) + 1
        top = target.split("/")[0]
        if target.startswith("../"):
            yield f"{name}:{line}: include '{target}' by its path from src/"
        elif match.group(1) == '"' and top in RANK and "/" in target:
            if RANK[top] > RANK[module]:
                yield (f"{name}:{line}: {module} includes {target}, but {top} comes after it "
                       "in src/modules.tsv")
            elif top == "api" and module == "api" and target.count("/") > 1 and (
                    len(parts) == 3 or target.split("/")[1] not in (
                        parts[2], parts[2].split("_")[0])):  # acl_prof uses the frame of acl
                yield f"{name}:{line}: front door {parts[2]} includes another one: {target}"
        elif top in ("acl", "hpe.h", "stcpti.h", "npurt.h") and module not in (
                "api", "check"):
            yield f"{name}:{line}: only src/api includes public headers: {target}"


def folder_of(path):
    """What the graph of folders has for a file of src/, named from there: the family of an
    operator (ops/conv), its module for all others. None for files that are in no folder."""
    parts = path.split("/")
    if len(parts) < 2:
        return None
    return "/".join(parts[:2]) if parts[0] == "ops" and len(parts) > 2 else parts[0]


def folder_graph(files):
    """{folder: {folder it includes: 'file includes file'}} of (name, text) pairs."""
    graph = {}
    for name, text in files:
        parts = name.split("/")
        if parts[0] != "src" or not name.endswith((".cpp", ".h", ".inc", ".c")):
            continue
        if name.endswith("_test.cpp"):
            continue
        folder = folder_of("/".join(parts[1:]))
        if folder is None or parts[1] == "api":  # doors have rules of their own (check_includes)
            continue
        for match in INCLUDE.finditer(text):
            target = match.group(2)
            to = folder_of(target) if match.group(1) == '"' else None
            if to and to != folder and target.split("/")[0] in RANK:
                graph.setdefault(folder, {}).setdefault(to, f"{name} includes {target}")
    return graph


def cycles(graph):
    """One sentence for each cycle that a walk through the graph meets."""
    done, path = set(), []

    def walk(folder):
        if folder in path:
            ring = path[path.index(folder):] + [folder]
            steps = "; ".join(graph[a][b] for a, b in zip(ring, ring[1:]))
            yield f"folders include each other in a ring, {' -> '.join(ring)}: {steps}"
            return
        if folder in done:
            return
        path.append(folder)
        for to in sorted(graph.get(folder, ())):
            yield from walk(to)
        path.pop()
        done.add(folder)

    for folder in sorted(graph):
        yield from walk(folder)


def check_spdx(name, text):
    base = os.path.basename(name)
    if name.endswith(SOURCE) or base in ("CMakeLists.txt", "Makefile"):
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text.splitlines()[:3]):
            yield f"{name}: no SPDX line at its head"


def check_name(name, text):
    base = os.path.basename(name)
    stem = base.split(".")[0].removesuffix("_test").removeprefix("test_")
    if name.startswith("python/ais_bench/infer/") and stem == "utils":
        return  # the names that scripts import
    if name.endswith(SOURCE) and stem.lower() in EMPTY_NAMES:
        yield f"{name}: name a file after what it holds"


def check_paths(name, text):
    for match in MACHINE_PATH.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{name}:{line}: path of one machine: {match.group(0)}"


CHECKS = [check_includes, check_spdx, check_name, check_paths]


def findings(root=ROOT, names=None):
    out, sources = [], []
    for name in names if names is not None else tracked_files(root):
        if not (name.endswith(TEXT) or os.path.basename(name) == "Makefile"):
            continue
        if name == "tests/lint/check_layers.py":
            continue  # spells out what it looks for
        text = read(root, name)
        for check in CHECKS:
            out += check(name, text)
        if name.startswith("src/"):
            sources.append((name, text))
    return out + list(cycles(folder_graph(sources)))


def long_files(root=ROOT):
    sizes = [(read(root, n).count("\n"), n) for n in tracked_files(root) if n.endswith(SOURCE)]
    return sorted((s for s in sizes if s[0] > LONGEST), reverse=True)


def main():
    found = findings()
    for line in found:
        print(line)
    for lines, name in long_files():
        print(f"note: {name} has {lines} lines; can it be split?")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
