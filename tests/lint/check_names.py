# SPDX-License-Identifier: Apache-2.0
"""Every name in backticks in a page or a comment exists: function, type, file, environment
variable, option, make target. So does every source file that is named without them, and every file
that a page links to.

A word exists when code says it: the tree without comments and pages, strings included. A source
file exists when a tracked path ends with it (`*` and `<x>` stand for anything). Words of others,
such as programs that are not ours, are listed in words_of_others.txt with what they belong to.

Run it alone for the list of findings, or through pytest (tests/python/project/test_names_exist.py).
"""

import fnmatch
import functools
import io
import os
import re
import sys
import tokenize

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check_layers  # noqa: E402

CPP = (".cpp", ".h", ".c", ".cc", ".inc", ".def")
HASH = (".cmake", ".txt", ".yaml", ".toml", ".sh", "Makefile")  # comments begin with '#'
DATA = (".tsv", ".json", ".map", ".in", ".apt")
SOURCES = (".h", ".cpp", ".c", ".cc", ".inc", ".def", ".py", ".md", ".tsv", ".cmake")
IGNORED = ("tests/fuzz/corpus/", "tests/lint/words_of_others",
           "tests/python/project/test_names_exist.py",  # names what does not exist
           "docs/guide_blocks.md", "docs/hpe_blocks.md", "docs/page_blocks.md",
           "docs/ais_bench_blocks.md")  # quote others
OTHERS = os.path.join(HERE, "words_of_others.txt")

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^ *```.*?^ *```", re.M | re.S)
MARK = re.compile(r"<!--.*?-->", re.S)  # for tests/support/page_blocks.py
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PATH = re.compile(r"(?<![\w$/.*-])[\w.*<>+-]*(?:/[\w.*<>+-]+)*\.(?:%s)\b(?!\()" %
                  "|".join(s[1:] for s in SOURCES))
TOP = ("bench", "cmake", "docs", "examples", "include", "python", "src", "tests", "tools")
FOLDER = re.compile(r"(?<![\w$/.*-])(?:%s)/[\w./*<>+-]*[\w*>/](?![\w.(])" % "|".join(TOP))
MAKE = re.compile(r"\bmake ([a-z][a-z-]*)")
FLAG = re.compile(r"(?<![\w}-])-[DlIL](?=\w)")  # -DNAME, -lname
PREFIX = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\*?)")
CPP_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)


def python_comments(text):
    """(first line, text) of comments and docstrings."""
    last = tokenize.NEWLINE
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            starts = last in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL)
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
            elif token.type == tokenize.STRING and starts and token.string.endswith('"""'):
                yield token.start[0], token.string
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                last = token.type
    except (tokenize.TokenError, SyntaxError):
        return


def cpp_comments(text):
    for match in CPP_COMMENT.finditer(text):
        if not match.group(0).startswith('"'):
            yield text.count("\n", 0, match.start()) + 1, match.group(0)


def hash_comments(text):
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            yield number, line


def comments(name, text):
    """(first line, text) of everything in a file that people read and machines do not."""
    if name.endswith(".md"):
        blanked = MARK.sub(lambda m: "\n" * m.group(0).count("\n"),
                           FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), text))
        return list(enumerate(blanked.splitlines(), start=1))
    if name.endswith(CPP):
        return list(cpp_comments(text))
    if name.endswith(".py"):
        return list(python_comments(text))
    return list(hash_comments(text)) if name.endswith(HASH) else []


def code_words(name, text):
    if name.endswith(".md"):
        return set()
    for _, comment in comments(name, text):
        text = text.replace(comment, " ", 1)
    return set(WORD.findall(text))


class Tree:
    """What exists: words of code, files and folders."""

    def __init__(self, root=check_layers.ROOT, names=None, others=None):
        self.root = root
        self.names = names if names is not None else check_layers.tracked_files(root)
        self.others = read_others() if others is None else others
        self.folders = {"/".join(n.split("/")[:i])
                        for n in self.names for i in range(1, n.count("/") + 1)}

    @functools.cached_property
    def words(self):
        found = set()
        for name in self.names:
            if name.endswith(CPP + HASH + DATA + (".py",)) and not self.is_ignored(name):
                found |= code_words(name, check_layers.read(self.root, name))
            found |= set(WORD.findall(os.path.basename(name)))
        for folder in self.folders:
            found |= set(WORD.findall(folder))
        return found | {f"lib{word}" for word in found}

    @functools.cached_property
    def planned(self):
        """Files that a guide tells its reader to write: **New file** `path`."""
        pages = (check_layers.read(self.root, n) for n in self.names if n.endswith(".md"))
        return {path for text in pages for path in re.findall(r"\*\*New file\*\* `([^`]+)`", text)}

    @functools.cached_property
    def targets(self):
        text = check_layers.read(self.root, "Makefile") if "Makefile" in self.names else ""
        return set(re.findall(r"^([a-z-]+):", text, re.M))

    @staticmethod
    def is_ignored(name):
        return name.startswith(IGNORED)

    @functools.lru_cache(maxsize=None)  # noqa: B019: one tree a run
    def has_file(self, path):
        path = re.sub(r"^(\.+/)+", "", path)
        if path in self.folders or path in self.planned:
            return True
        pattern = re.sub(r"<[^>]*>", "*", path)
        return any(name.endswith("/" + path) or name == path
                   or fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, "*/" + pattern)
                   for name in self.names)

    def has_link(self, page, link):
        path = os.path.normpath(os.path.join(os.path.dirname(page), link))
        return path in self.folders or path in self.names

    def missing(self, span):
        """Names in one span that do not exist."""
        if span in self.others:
            return []
        rest, gone = FLAG.sub(" ", span), []
        for path in PATH.findall(span) + FOLDER.findall(span):
            rest = rest.replace(path, " ")
            if path not in self.others and not self.has_file(path.rstrip("/")):
                gone.append(path)
        gone += [f"target '{t}'" for t in MAKE.findall(span) if t not in self.targets]
        return gone + [word for word, star in PREFIX.findall(rest) if len(word) > 2
                       and word not in self.others and not self.has_word(word, bool(star))]

    def has_word(self, word, begins=False):
        """In code; `name*` and `name_` when some word begins so, `_name` when one ends so."""
        if word in self.words:
            return True
        return any((begins or word.endswith("_")) and known.startswith(word)
                   or word.startswith("_") and known.endswith(word) for known in self.words)


def read_others(path=OTHERS):
    """Words and whole spans of words_of_others.txt: 'what: word word ...'; a span in backticks."""
    found = set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                words = line.partition(":")[2]
                found |= set(SPAN.findall(words))
                found |= set(SPAN.sub(" ", words).split())
    return found


def findings(tree=None, names=None):
    tree = tree or Tree()
    out = []
    for name in names if names is not None else tree.names:
        if tree.is_ignored(name) or not name.endswith(CPP + HASH + (".py", ".md")):
            continue
        for line, text in comments(name, check_layers.read(tree.root, name)):
            for match in SPAN.finditer(text):
                at = line + text.count("\n", 0, match.start())
                out += [f"{name}:{at}: `{match.group(1)}`: no {word} in this tree"
                        for word in tree.missing(match.group(1))]
            outside = LINK.sub("]", SPAN.sub(lambda m: " " * len(m.group(0)), text))
            for match in PATH.finditer(outside):
                at = line + text.count("\n", 0, match.start())
                if match.group(0) not in tree.others and not tree.has_file(match.group(0)):
                    out.append(f"{name}:{at}: no {match.group(0)} in this tree")
            if name.endswith(".md"):
                out += [f"{name}:{line}: a link to {link}, which is not there"
                        for link in LINK.findall(text) if not tree.has_link(name, link)]
    return out


def main():
    found = findings()
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
