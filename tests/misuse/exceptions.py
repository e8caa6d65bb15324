# SPDX-License-Identifier: Apache-2.0
"""What differs from rules.py: tests/data/misuse.tsv, one row for each exception.

Function, kind and argument are patterns: `*` stands for any word, `(a|b)` for one of two, and a dot
for itself; argument is '-' for cases of the whole call. The first row that fits counts. Expected is
`accepted`, the name of a constant of the headers, a bare code, an exception, or `= VALUE` for a
function without a code. `why` says why this argument of this function is treated so.
"""

import csv
import os
import re
from dataclasses import dataclass

from misuse import codes, rules

PATH = os.path.join(codes.DATA, "misuse.tsv")


def compiled(pattern):
    return re.compile(pattern.replace(".", r"\.").replace("*", r"\w*"))


@dataclass
class Row:
    line: int
    function: re.Pattern
    kinds: list
    argument: re.Pattern
    expected: str
    why: str

    def fits(self, function, kind, argument):
        return (kind in self.kinds
                and bool(self.argument.fullmatch(argument.name if argument else "-"))
                and bool(self.function.fullmatch(function.name)))

    def outcome(self, function):
        if self.expected == "accepted":
            return rules.accepted(function)
        return rules.CONSTANTS.get(self.expected, self.expected)


def load(path=PATH):
    with open(path, newline="", encoding="utf-8") as file:
        lines = [(number, line) for number, line in enumerate(file, start=1)
                 if not line.startswith("#")]
    table = csv.DictReader((line for _, line in lines), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [Row(number, compiled(row["function"]), row["kind"].split("|"),
                compiled(row["argument"]), row["expected"], row["why"] or "")
            for (number, _), row in zip(lines[1:], table)]


def find(table, function, kind, argument):
    """The row of a case, or None where the rule counts."""
    return next((row for row in table if row.fits(function, kind, argument)), None)


def expected(table, function, kind, argument):
    """(outcome, why) of a case; why is empty where the rule counts."""
    row = find(table, function, kind, argument)
    if row is None:
        return rules.expected(function, kind, argument), ""
    return row.outcome(function), row.why
