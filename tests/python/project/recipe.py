# SPDX-License-Identifier: Apache-2.0
"""Follows a guide of docs/ in a copy of the tree.

A step of a guide is a line of one of these forms and the code block after it:

    **New file** `path`:
    **In** `path`, after `line`:        the first line that is exactly this, spaces around it aside
    **In** `path`, before `line`:
    **At the end of** `path`:
    **Run:**                            commands, in the root of the tree

What a step changed is compiled as the build compiles its neighbours, and linked with the objects of
the build in front of them: the first definition counts. So nothing else is compiled again.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

STEP = re.compile(
    r"^ *(?:\d+\. )?.*?(?:\*\*New file\*\* `(?P<new>[^`]+)`|"
    r"\*\*In\*\* `(?P<path>[^`]+)`, (?P<where>after|before) `(?P<line>[^`]+)`|"
    r"\*\*At the end of\*\* `(?P<end>[^`]+)`|"
    r"(?P<run>\*\*Run:\*\*))[^\n]*\n\n?(?P<indent> *)```\w*\n(?P<text>.*?)\n(?P=indent)```$",
    re.M | re.S)
LEFT_OUT = {"build", ".git", ".venv", ".cache", "dist", "__pycache__"}


def steps(page):
    """Dictionaries with new, or end, or path, where and line, or run; and text."""
    found = []
    for match in STEP.finditer(page):
        step = match.groupdict()
        indent = step.pop("indent")
        step["text"] = re.sub(rf"^{indent}", "", step["text"], flags=re.M) + "\n"
        found.append(step)
    return found


class Copy:
    """A copy of the tree, without builds; `changed` are the files that steps wrote."""

    def __init__(self, root, folder, build):
        self.root, self.folder, self.build = str(root), str(folder), str(build)
        self.changed = []
        shutil.copytree(root, folder, symlinks=True,
                        ignore=lambda _, names: {n for n in names if n in LEFT_OUT
                                                 or n.startswith("build-")})

    def path(self, name):
        return os.path.join(self.folder, name)

    def follow(self, page):
        for step in steps(page):
            if step["run"]:
                self.run(step["text"])
            elif step["new"]:
                assert not os.path.exists(self.path(step["new"])), f"{step['new']} is there already"
                self.write(step["new"], step["text"])
            elif step["end"]:
                with open(self.path(step["end"]), encoding="utf-8") as file:
                    self.write(step["end"], file.read() + step["text"])
            else:
                self.insert(**step)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        self.changed.append(name)

    def insert(self, path, where, line, text, **_):
        with open(self.path(path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        places = [i for i, found in enumerate(lines) if found.strip() == line.strip()]
        assert places, f"{path} has no line '{line}'"
        at = places[0] + (where == "after")
        lines[at:at] = text.rstrip("\n").split("\n")
        self.write(path, "\n".join(lines))

    def run(self, commands):
        done = subprocess.run(["bash", "-e", "-c", commands], cwd=self.folder, text=True,
                              capture_output=True,
                              env={**os.environ, "PATH": os.path.dirname(sys.executable)
                                   + os.pathsep + os.environ["PATH"]})
        assert done.returncode == 0, commands + done.stdout + done.stderr

    def compile(self, names, like):
        """Objects of changed files; `like` is a part of the name of an object of the build that is
        compiled with the same options."""
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            command = next(entry["command"] for entry in json.load(file)
                           if like in entry["command"] and entry["file"].endswith(("cpp", "cxx")))
        words = shlex.split(command)
        keep = self.without(words, {"-o": 1, "-c": 1, "-MF": 1, "-MT": 1, "-MD": 0})
        keep = [w.replace(self.root + "/src", self.folder + "/src")
                .replace(self.root + "/include", self.folder + "/include") for w in keep]
        running, objects = [], []
        for name in names:
            objects.append(self.path(name.replace("/", "_") + ".o"))
            running.append(subprocess.Popen(
                [*keep, "-c", self.path(name), "-o", objects[-1]], cwd=self.build, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        said = [process.communicate()[0] for process in running]
        assert all(process.returncode == 0 for process in running), "\n".join(said)
        return objects

    @staticmethod
    def without(words, options):
        """The words without these options and as many words after each."""
        skip = 0
        for word in words:
            if skip:
                skip -= 1
            elif word in options:
                skip = options[word]
            else:
                yield word

    def link(self, target, objects, output, instead=()):
        """What the build links as `target`, with these objects in front of the others. `instead`
        maps names of files to the paths that are taken in their place. Tests that the build has in
        it are left out: these have their own."""
        listed = subprocess.run(["ninja", "-C", self.build, "-t", "commands", target],
                                capture_output=True, text=True, check=True).stdout
        last = listed.strip().splitlines()[-1]
        words = shlex.split(next(part for part in last.split(" && ") if " -o " in part))
        words = [word.replace("\\$", "$") for word in words
                 if not re.search(r"_test\.dir/.*\.o$", word)]
        at = words.index("-o")
        words[at + 1] = output = self.path(output)
        for name, path in dict(instead).items():
            words = [re.sub(rf"[^=,]*\b{re.escape(name)}$", path, word) if i != at + 1 else word
                     for i, word in enumerate(words)]
        first = next(i for i, word in enumerate(words)
                     if word.endswith((".o", ".a", ".so")) and i != at + 1)
        words[first:first] = [*objects, "-Wl,-z,muldefs"]
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return output
