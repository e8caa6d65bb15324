# SPDX-License-Identifier: Apache-2.0
"""Which code means what, tests/data/misuse_codes.tsv: functions and kinds are patterns.

The documents name the codes and their meaning; they list no codes per function. So an
expected code is right when its meaning fits the kind of mistake.
"""

import csv
import os
import re
from dataclasses import dataclass

from misuse import functions

DATA = os.path.join(functions.ROOT, "tests", "data")


@dataclass
class Rule:
    functions: str
    kinds: str
    code: str
    name: str
    meaning: str


def _read(name):
    with open(os.path.join(DATA, name), newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def load():
    return [Rule(**row) for row in _read("misuse_codes.tsv")]


def documented():
    """{name of a constant: its value}, as the public headers have them."""
    return {row["name"]: row["value"] for row in _read("acl_constants.tsv")}


def allowed(rules, function, kind, code):
    return any(rule.code == code and re.fullmatch(rule.functions, function)
               and re.fullmatch(rule.kinds, kind) for rule in rules)
