# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the pages: finds them and runs them as a reader would, from the top of the
page to its end, in one folder.

By language:

    python, c, cpp   run; with title="name" saved under that name, for a later block that runs it
    sh               run by bash; every command must succeed
    console          the commands behind `$ ` are run, the other lines are their output; `...`
                     stands for anything; exit=N is the exit code of the last command
    yaml             a CI job: its commands are run, without those that install
    json             read
    cmake, toml      saved under their title

Comments before a block, which readers do not see:

    <!-- files: name = path in the repository; ... -->   copied into the folder
    <!-- before: command -->                             run first
    <!-- prelude: code -->, <!-- epilogue: code -->      put around the code of the next block
    <!-- needs: program -->                              not run where the program is missing
    <!-- not run: reason -->                             the block is not run

`<!-- no block is run: reason -->` holds for its whole page.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

from build_tree import BUILD, ROOT

MARK = re.compile(r"<!-- (files|before|prelude|epilogue|needs|not run|no block is run): (.*?) -->",
                  re.S)
FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.M | re.S)
TITLE = re.compile(r'title="([^"]+)"')
RUN_BY_OTHERS = ("c", "cpp", "python")
SAVED = ("cmake", "toml", *RUN_BY_OTHERS)
LIMIT_S = 240
SEPARATOR = "\x1e"


@dataclass
class Block:
    page: str
    line: int
    language: str
    info: str
    text: str
    marks: list = field(default_factory=list)  # (kind, text), in order

    @property
    def title(self):
        found = TITLE.search(self.info)
        return found[1] if found else ""

    @property
    def first_line(self):
        return next((line for line in self.text.splitlines() if line.strip()), "")

    def mark(self, kind):
        return next((text for name, text in self.marks if name == kind), "")


def blocks(page, text):
    """All fenced blocks of a page with the marks between it and the block before."""
    found, end, whole = [], 0, ""
    for match in FENCE.finditer(text):
        info = match[2].strip()
        body = re.sub(rf"^{match[1]}", "", match[3], flags=re.M)
        block = Block(page, text.count("\n", 0, match.start()) + 1,
                      info.split(" ")[0] if info else "", info, body,
                      MARK.findall(text[end:match.start()]))
        whole = whole or block.mark("no block is run")
        if whole:
            block.marks = [("not run", whole)]
        found.append(block)
        end = match.end()
    return found


def indented_blocks(text):
    """Lines at which a block begins by indentation alone: these cannot say what they are."""
    blanked = FENCE.sub(lambda m: re.sub(r"[^\n]", "", m[0]).replace("\n", "\nx", 1), text)
    lines, found, in_list = [""] + blanked.splitlines(), [], False
    for number in range(1, len(lines)):
        line = lines[number]
        if re.match(r" {0,3}(?:[-*+]|\d+\.) ", line):
            in_list = True
        elif line and not line.startswith(" "):
            in_list = False
        if line.startswith("    ") and not lines[number - 1].strip() and not in_list:
            found.append(number)
    return found


def expected(text):
    """A pattern for the output that a console block shows."""
    parts = [re.escape(part) for part in text.strip("\n").split("...")]
    return re.compile(r"\s*" + ".*".join(parts) + r"\s*", re.S)


def commands(text):
    """(command, output) pairs of a console block; a here-document belongs to its command."""
    pairs, until = [], ""
    for line in text.splitlines():
        if until:
            pairs[-1][0] += "\n" + line
            until = "" if line == until else until
        elif line.startswith("$ "):
            pairs.append([line[2:], ""])
            here = re.search(r"<<'?(\w+)'?", line)
            until = here[1] if here else ""
        elif line.startswith("> ") and pairs and pairs[-1][0].endswith("\\"):
            pairs[-1][0] += "\n" + line[2:]
        else:
            assert pairs, f"output before a command: {line}"
            pairs[-1][1] += line + "\n"
    return pairs


def job_commands(text):
    """The commands of a CI job, in order, without those that install packages."""
    lines = []
    for line in text.splitlines():
        found = re.match(r"\s*- run: (.*)", line) or re.match(r"    - (?!\w+:)(.*)", line)
        if found and not found[1].startswith("pip "):
            lines.append(found[1])
    return lines


class Page:
    """Runs the blocks of a page."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.saved = {}  # name: whether a later block names it
        home = os.path.join(self.folder, ".home")
        os.makedirs(home)
        self.env = dict(os.environ, HOME=home, PYTHONDONTWRITEBYTECODE="1",
                        EXAMPLES=f"{ROOT}/examples")
        self.env["PATH"] = os.pathsep.join([f"{BUILD}/bin", os.path.dirname(sys.executable),
                                            self.env["PATH"]])
        os.makedirs(os.path.join(self.folder, "build"))  # the page's own, beside what users source
        os.symlink(f"{BUILD}/ascend", os.path.join(self.folder, "build", "ascend"))

    def path(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def bash(self, text):
        return subprocess.run(["bash", "-c", text], cwd=self.folder, env=self.env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT_S, errors="replace")

    def must(self, text):
        done = self.bash("set -euo pipefail\n" + text)
        assert done.returncode == 0, f"{text}\nended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def run(self, block):
        """Runs a block; the reason where it was left out, else ''."""
        if block.mark("not run"):
            return block.mark("not run")
        missing = [program for program in block.mark("needs").split() if not shutil.which(program)]
        if missing:
            return f"{missing[0]} is not installed"
        for kind, text in block.marks:
            if kind == "files":
                for entry in filter(None, map(str.strip, text.split(";"))):
                    name, _, source = entry.partition(" = ")
                    self.copy(source, name)
            elif kind == "before":
                self.must(text)
        for name in self.saved:
            self.saved[name] |= os.path.basename(name) in block.text or \
                os.path.splitext(name)[0] in block.text
        block.text = block.mark("prelude") + "\n" * bool(block.mark("prelude")) + block.text + \
            block.mark("epilogue")
        getattr(self, f"run_{block.language}", self.unknown)(block)
        return ""

    def copy(self, source, name):
        source = os.path.join(ROOT, source)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(self.folder, name), dirs_exist_ok=True)
        else:
            shutil.copy(source, self.path(name))

    def unknown(self, block):
        assert block.title and block.language in SAVED, \
            f"a block of language '{block.language}' says neither how it is run nor why not"
        self.write(block.title, block.text)

    def run_python(self, block):
        name = block.title or "block.py"
        self.write(name, block.text)
        if block.title:
            self.saved[name] = False
        else:
            self.must(f"python3 {name}")

    def run_c(self, block, compiler="gcc -std=gnu11", suffix="c"):
        name = block.title or f"block.{suffix}"
        self.write(name, block.text)
        if block.title:
            self.saved[name] = False
        else:
            self.must(f"{compiler} {name} -o block -I{BUILD}/include -L{BUILD}/lib -lhccl "
                      f"-lnnopbase -lopapi -lascendcl -Wl,-rpath,{BUILD}/lib && ./block")

    def run_cpp(self, block):
        self.run_c(block, "g++ -std=c++17", "cpp")

    def run_sh(self, block):
        self.must(block.text)

    run_bash = run_sh

    def run_console(self, block):
        pairs = commands(block.text)
        script = "".join(f"{command}\nprintf '{SEPARATOR}%s{SEPARATOR}' $?\n"
                         for command, _ in pairs)
        pieces = self.bash(script).stdout.split(SEPARATOR)
        last = int(re.search(r"exit=(\d+)|$", block.info)[1] or 0)
        for i, (command, output) in enumerate(pairs):
            printed, code = (*pieces[2 * i:2 * i + 2], "", "none")[:2]
            wanted = str(last if i == len(pairs) - 1 else 0)
            assert code == wanted, f"{command}\nended with {code}, expected {wanted}:\n{printed}"
            if output.strip():
                assert expected(output).fullmatch(printed), \
                    f"{command}\nprinted\n{printed}\nexpected\n{output}"

    def run_json(self, block):
        json.loads(block.text)

    def run_yaml(self, block):
        found = job_commands(block.text)
        assert found, "no commands in this job"
        for name, value in re.findall(r"^ +(ANYNPU_\w+): \"?([^\"\n]*)\"?$", block.text, re.M):
            if name != "ANYNPU_WHEEL":
                self.env[name] = value
        self.must("\n".join(found))

    def unused(self):
        return [name for name, used in self.saved.items() if not used]
