# SPDX-License-Identifier: Apache-2.0
"""Why some wrong calls are accepted: tests/data/misuse_reasons.tsv, patterns of (function, kind,
argument) and the reason; the first that fits counts.

rows.py writes the reason into the table; a call that is accepted without one fails the test.
"""

import csv
import os
import re

from misuse import functions

PATH = os.path.join(functions.ROOT, "tests", "data", "misuse_reasons.tsv")


def _patterns():
    with open(PATH, newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            *patterns, reason = row.values()
            yield *(re.compile(pattern) for pattern in patterns), reason


REASONS = list(_patterns())


def why(function, kind, argument):
    for functions_, kinds, arguments, reason in REASONS:
        if (functions_.fullmatch(function) and kinds.fullmatch(kind)
                and (argument == "*" or arguments.fullmatch(argument))):
            return reason
    return ""
