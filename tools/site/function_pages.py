# SPDX-License-Identifier: Apache-2.0
"""For the site: the functions of a module with their arguments, results, codes and messages, from
src/api/*/api.tsv, tests/data/misuse_codes.tsv and messages.tsv (see collect_messages.py)."""
import os
import re
import sys

from error_table import ACL, HERE, ROOT, errors, rows

sys.path.insert(0, os.path.join(ROOT, "tools", "gen_pyacl"))
import table  # noqa: E402
from wrappers import returned_text, text_signature  # noqa: E402

INDEX = """# Functions

Generated from `src/api/*/api.tsv`. Each page lists the functions of a module with arguments, results, the codes that
they return for a mistake, and messages as they are printed.

| module | functions |
|---|---|
"""


def module_rows():
    """{"acl.rt": rows}, and the functions that only C has."""
    all_rows = table.read_api(table.read_libraries(table.API))
    found = {}
    for row in all_rows:
        if row.in_python:
            found.setdefault(f"acl.{row.module}" if row.module else "acl", []).append(row)
        elif row.python == "-" and row.c_signature:
            prefix = "aclnn" if row.c_function.startswith("aclnn") else "C"
            found.setdefault(prefix, []).append(row)
    return {name: sorted(mine, key=lambda r: r.short_name if r.in_python else r.c_function)
            for name, mine in sorted(found.items()) if name != "aclnn"}


def messages():
    """{function: [(mistake, code, message)]}"""
    path = os.path.join(HERE, "messages.tsv")
    found = {}
    if os.path.exists(path):
        for row in rows("tools", "site", "messages.tsv"):
            found.setdefault(row["function"], []).append((row["mistake"], row["code"],
                                                          row["message"]))
    return found


def codes_of(row):
    """[(code, name, meaning)] of the mistakes that the misuse tests make with the function."""
    found = []
    for rule in rows("tests", "data", "misuse_codes.tsv"):
        if rule["functions"] == r"acl\..*" and rule["kinds"] == ".*":
            continue  # what is refused altogether
        if re.fullmatch(rule["functions"], row.python):
            found.append((rule["code"], rule["name"], rule["meaning"]))
    return found


def code_link(code, depth="../errors/"):
    known = any(e.interface == ACL and str(e.number) == code for e in errors())
    return f"[{code}]({depth}{code}.md)" if known else code


def arguments(row):
    out = []
    for value in row.arguments:
        kind = value.kind + (" or None" if value.optional else "")
        out.append(f"| `{value.name}` | {kind} | {value.default or ''} |")
    return out


def section(row, samples):
    name = row.python if row.in_python else row.c_function
    out = ["", f"### {name}", ""]
    if row.in_python:
        out += ["```text", f"{row.python}{text_signature(row).replace(', /', '')} -> "
                f"{returned_text(row)}", "```"]
    if row.c_signature:
        out += ["```text", row.c_signature + ";", "```"]
    facts = [text for text, on in (
        ("waits: lets other Python threads run", row.blocks),
        ("needs `acl.init` first", row.needs_init),
        ("works at any time, also after `acl.finalize`", row.any_time)) if on]
    if row.status != "works":
        facts.insert(0, f"**{row.status}**: {row.reason}")
    if row.notes:
        facts.append(row.notes)
    out += ["", *[f"- {fact}" for fact in facts]]
    if row.arguments:
        out += ["", "| argument | kind | default |", "|---|---|---|", *arguments(row)]
    if samples:
        out += ["", "| mistake | code | message |", "|---|---|---|"]
        out += [f"| {mistake} | {code_link(code)} | {message.replace('|', chr(92) + '|')} |"
                for mistake, code, message in samples]
    elif row.in_python:
        codes = codes_of(row)
        if codes and "ret" in [value.name for value in row.returns]:
            out += ["", "| code | for |", "|---|---|"]
            out += [f"| {code_link(code)} | {meaning} |" for code, _, meaning in codes]
    return out


def pages():
    """{file name: text}"""
    known, found, index = messages(), {}, [INDEX.rstrip("\n")]
    for name, mine in module_rows().items():
        file = name.replace(".", "_") + ".md"
        title = "Functions that only C has" if name == "C" else name
        out = [f"# {title}", "", "Generated from `src/api/*/api.tsv`."]
        for row in mine:
            out += section(row, known.get(row.python, []))
        found[file] = "\n".join(out) + "\n"
        index.append(f"| [{title}]({file}) | {len(mine)} |")
    found["index.md"] = "\n".join(index) + "\n"
    return found
