# SPDX-License-Identifier: Apache-2.0
"""docs/api_coverage.md: the status of every function of the API."""
from collections import Counter

from wrappers import returned_text, text_signature

HEAD = """# API coverage

Generated from `src/api/*/api.tsv` by `tools/gen_pyacl`; do not edit.

- *works*: does what its document says.
- *refused*: returns 207000 (`ACL_ERROR_RT_FEATURE_NOT_SUPPORT`) if it belongs to the runtime, to
  queues or to the platform, else 200006 (`ACL_ERROR_FEATURE_UNSUPPORTED`), with the
  reason given here as the message; this will not change.
- *later*: returns the same for now; planned for a later release.
- *left out*: a C function of which only the name is known; the library does not have it.
- *guide*: the function appears in the pyACL guide. *waits*: it can block, so it releases
  the GIL.
- *init*: it needs `acl.init` first; all others start the runtime themselves. *any time*: also
  after `acl.finalize`.
"""


def _title(module):
    return f"acl.{module}" if module else "acl"


def _groups(rows):
    python = [r for r in rows if r.in_python]
    names = sorted({r.module for r in python})
    groups = [(_title(m), [r for r in python if r.module == m]) for m in names]
    return groups + [("C only", [r for r in rows if r.python == "-"])]


def _status(row):
    explained = row.status in ("refused", "left out")
    return f"{row.status}: {row.reason}" if explained else row.status


def _marks(row):
    marks = [("guide", row.in_guide), ("init", row.needs_init), ("any time", row.any_time),
             ("waits", row.blocks)]
    return " ".join(name for name, on in marks if on)


def _cell(text):
    return text.replace("|", "\\|")


def emit_coverage(rows):
    groups = _groups(rows)
    out = [HEAD, "| module | functions | works | refused | later | left out | in the guide and not "
           "there |", "|---|---|---|---|---|---|---|"]
    for title, mine in groups:
        count = Counter(r.status for r in mine)
        missing = sum(r.in_guide and r.status != "works" for r in mine)
        out.append(f"| {title} | {len(mine)} | {count['works']} | {count['refused']} | "
                   f"{count['later']} | {count['left out']} | {missing} |")
    for title, mine in groups:
        if title == "C only":
            out += ["", "## C only", "", "| C function | status |", "|---|---|"]
            out += [f"| `{r.c_function}` | {_cell(_status(r))} |" for r in mine]
            continue
        out += ["", f"## {title}", "", "| function | returns | C function | status | | notes |",
                "|---|---|---|---|---|---|"]
        for row in mine:
            shown = row.short_name + text_signature(row).replace(", /", "")
            c_name = f"`{row.c_function}`" if row.c_function else ""
            out.append(f"| `{shown}` | `{returned_text(row)}` | {c_name} | {_cell(_status(row))} | "
                       f"{_marks(row)} | {_cell(row.notes)} |")
    others = [r for r in rows if r.status == "not a function"]
    if others:
        out += ["", "## Names that are not functions", ""]
        out += [f"- `{r.python}`: {r.notes}" for r in others]
    return out
