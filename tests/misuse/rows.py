# SPDX-License-Identifier: Apache-2.0
"""The table of expected outcomes, tests/data/misuse.tsv: function, kind, argument, expected, why.

Argument is '-' for cases of the whole call and '*' where all arguments of that kind agree.
Expected is a code, 'ok', 'ok, then CODE' (accepted, fails at synchronize) or an exception; for a
function without a code '= VALUE' when it failed with that value, 'value' when it succeeded. 'why'
says why a wrong call is accepted (patterns in misuse_reasons.tsv) and must not be empty then. To
take over what the functions do now, and then read the difference:

    python -m misuse.walk > /tmp/walk.jsonl && python -m misuse.rows /tmp/walk.jsonl    (in tests/)
"""

import csv
import json
import os
import sys

from misuse import functions, kinds, reasons

PATH = os.path.join(functions.ROOT, "tests", "data", "misuse.tsv")
HEAD = ["function", "kind", "argument", "expected", "why"]


def load(path=PATH):
    """{(function, kind, argument): (expected, why)} as written, with '*' rows."""
    table = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            key = (row["function"], row["kind"], row["argument"])
            if key in table:
                raise ValueError(f"{path}: two rows for {key}")
            table[key] = (row["expected"], row["why"] or "")
    return table


def find(table, function, kind, argument):
    """The row of a case: its own, or the one for all arguments. Returns (key, row) or None."""
    for key in ((function, kind, argument), (function, kind, "*")):
        if key in table:
            return key, table[key]
    return None


def condense(results, old):
    """Results of a walk as rows; 'why' comes from the old table."""
    grouped = {}
    for result in results:
        group = grouped.setdefault((result["function"], result["kind"]), [])
        group.append((result["argument"], result["outcome"]))
    for (function, kind), found in grouped.items():
        outcomes = {outcome for _, outcome in found}
        if len(outcomes) == 1 and found[0][0] != "-":
            found = [("*", found[0][1])]
        for argument, outcome in found:
            was = find(old, function, kind, argument)
            why = was[1][1] if was and was[1][0] == outcome else ""
            if not why and (outcome.startswith(("ok", "value")) or kind == "good"):
                why = reasons.why(function, kind, argument)
            yield [function, kind, argument, outcome, why]


def main():
    old = load() if os.path.exists(PATH) else {}
    with open(sys.argv[1]) as file:
        results = [json.loads(line) for line in file]
    order = {f.name: i for i, f in enumerate(functions.load())}
    place = {f.name: {k: j for j, (k, _) in enumerate(reversed(kinds.cases(f)))}
             for f in functions.load()}
    rows = sorted(condense(results, old),
                  key=lambda r: (order[r[0]], -place[r[0]].get(r[1], 0)))
    walked = {r[0] for r in rows}
    kept = [[*key, *row] for key, row in old.items() if key[0] not in walked and key[0] in order]
    with open(PATH, "w", newline="") as file:
        file.write("\t".join(HEAD) + "\n")
        for row in sorted(kept + rows, key=lambda r: order[r[0]]):
            file.write("\t".join(row).rstrip("\t") + "\n")
    print(f"{PATH}: {len(rows)} rows written, {len(kept)} kept")


if __name__ == "__main__":
    main()
