# SPDX-License-Identifier: Apache-2.0
"""Rules of src/api, the front doors.

- An entry point (an exported function) has at most 12 lines from its signature to its closing
  brace: it converts arguments, makes one call, converts the outcome.
- Front doors hold no state: no variable outside of functions, no static or thread_local one inside,
  unless it is const. State belongs to a service (src/service) or to a module below it.
- The vendor's error numbers stand in the errors.cpp of a door alone; other files name causes
  (Code).

What is still to be moved stands in REMAINING below, one `rule file name` a line. The list only gets
shorter: a row that is no longer needed is a finding too.

Run it alone for the list of findings, or through pytest
(tests/python/project/test_entry_points.py).
`--remaining` prints the rows that today's tree needs.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONGEST = 12

REMAINING = """
"""

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.M)
ENTRY = re.compile(r'^(?:extern "" )?(?!static\b|inline\b|namespace\b)[\w:<>*& ]*?\b'
                   r"((?:acl|stc|hi_|anynpu_|Hccl|Msprof|rt[A-Z])\w*)\(", re.M)
NUMBER = re.compile(r"\b(?:ACL_ERROR_\w+|HCCL_E_\w+|stcError[A-Z]\w*|HI_ERR_\w+)")
NOT_A_VARIABLE = re.compile(r"(?:using|typedef|namespace|class|struct|enum|union|template|friend|"
                            r"static_assert|public|private|protected|return)\b")


def bare(text):
    """The text without comments, directives and what stands in quotes; lines stay lines."""
    def blank(match):
        token = match.group(0)
        kept = '""' if token[0] == '"' else "0" if token[0] == "'" else ""
        return kept + "\n" * token.count("\n")
    text = COMMENT_OR_TEXT.sub(blank, text)
    return DIRECTIVE.sub(lambda match: "\n" * match.group(0).count("\n"), text)


def entry_points(text):
    """(name, line, lines) of the functions that the file exports."""
    text = bare(text)
    for match in ENTRY.finditer(text):
        opening = text.find("{", match.end())
        if opening < 0 or ";" in text[match.end():opening]:
            continue  # a declaration
        closing = text.find("\n}", opening)
        one_line = text.find("\n", opening)
        if text[opening:one_line].rstrip().endswith("}"):
            closing = opening
        start = text.count("\n", 0, match.start()) + 1
        end = text.count("\n", 0, closing) + (1 if closing == opening else 2)
        yield match.group(1), start, end - start + 1


def kind_of_block(head):
    """What a brace after `head` opens."""
    words = head.strip()
    if re.match(r"(?:inline )?namespace\b|extern \"\"$", words):
        return "namespace"
    if re.search(r"=\s*$|[\w>]\s*$|\]\s*$", words) and not re.search(
            r"\b(?:class|struct|union|enum)\b|\b(?:else|do|try|const|noexcept|override|final)$|"
            r"\)\s*->[^=]*$|\[[^\]]*\]\s*$", words):
        return "value"
    if re.search(r"\[[^\]]*\]\s*$", words):
        return "function"  # a lambda without parameters
    if re.search(r"\b(?:class|struct|union|enum)\b", words) and "(" not in words:
        return "class"
    return "function"


def statements(text):
    """(block, statement, line) of what ends with a semicolon; block says where it stands."""
    text = bare(text)
    blocks, heads, head, line, parens = ["namespace"], [], "", 1, 0
    for char in text:
        line += char == "\n"
        if char == "(":
            parens += 1
        elif char == ")":
            parens -= 1
        if char == "{":
            kind = kind_of_block(head)
            if blocks[-1] in ("function", "value") and kind != "class":
                kind = "value" if kind == "value" else "function"
            heads.append((head, kind, parens))
            blocks.append(kind)
            head, parens = "", 0
        elif char == "}" and len(blocks) > 1:
            outer, kind, parens = heads.pop()
            blocks.pop()
            # The declaration goes on after the braces of a value or of a lambda.
            head = outer + "{}" if kind == "value" or "=" in outer or parens else ""
        elif char == ";" and parens == 0:
            yield blocks[-1], " ".join(head.split()), line
            head = ""
        else:
            head += char


def variable(block, statement):
    """The name of the variable that a statement declares and that is state; None for others."""
    statement = re.sub(r"^(?:(?:public|private|protected) ?: ?|\[\[[^\]]*\]\] )+", "", statement)
    left = re.split(r"=|\{", statement, maxsplit=1)[0]
    if re.search(r"\bconstexpr\b|\bconst\b", left):
        return None
    stored = re.search(r"\b(?:static|thread_local)\b", left)
    if block == "class" and (not stored or "(" in left):
        return None
    if block in ("function", "value") and not stored:
        return None
    if block == "namespace" and ("(" in left or NOT_A_VARIABLE.match(left) or 'extern ""' in left):
        return None
    names = re.findall(r"\w+", re.split(r"[(\[]", left.replace("std::atomic", ""), maxsplit=1)[0])
    return names[-1] if len(names) > 1 else None


def sources(root=ROOT):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "src/api"],
                            capture_output=True, text=True)
    names = listed.stdout.splitlines()
    if listed.returncode != 0:
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, files in os.walk(os.path.join(root, "src", "api"))
                 for name in files]
    return sorted(name for name in names if name.endswith((".h", ".cpp")) and
                  not name.endswith("_test.cpp") and os.path.isfile(os.path.join(root, name)))


def check(name, text):
    """(rule, file, name, sentence) of everything that breaks a rule."""
    for entry, line, lines in entry_points(text) if name.endswith(".cpp") else ():
        if lines > LONGEST:
            yield ("long", name, entry, f"{name}:{line}: {entry} has {lines} lines; an entry point "
                   f"has at most {LONGEST}: convert, one call into a service, convert")
    for block, statement, line in statements(text):
        found = variable(block, statement)
        if found and name != "src/api/frame.h":  # has the names of trace zones
            yield ("state", name, found, f"{name}:{line}: {found} is state of a front door; give "
                   "it to a service or a module below")
    if not name.endswith(("/errors.cpp", "/errors.h")):
        for match in NUMBER.finditer(bare(text)):
            line = bare(text).count("\n", 0, match.start()) + 1
            yield ("number", name, match.group(0), f"{name}:{line}: {match.group(0)} stands "
                   "outside of errors.cpp; return a Status whose Code names the cause")


def remaining(text=None):
    rows = (REMAINING if text is None else text).splitlines()
    return {tuple(row.split()) for row in rows if row.strip()}


def findings(root=ROOT, allowed=None):
    allowed = remaining() if allowed is None else allowed
    out, needed = [], set()
    for name in sources(root):
        with open(os.path.join(root, name), encoding="utf-8") as file:
            for rule, where, what, sentence in check(name, file.read()):
                needed.add((rule, where, what))
                if (rule, where, what) not in allowed:
                    out.append(sentence)
    for row in sorted(allowed - needed):
        out.append(f"tests/lint/check_entry_points.py: remove the row '{' '.join(row)}': done")
    return out


def main():
    if "--remaining" in sys.argv:
        rows = {found[:3] for name in sources()
                for found in check(name, open(os.path.join(ROOT, name), encoding="utf-8").read())}
        print("\n".join(" ".join(row) for row in sorted(rows, key=lambda r: (r[1], r[0], r[2]))))
        return
    found = findings()
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
