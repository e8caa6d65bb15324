# SPDX-License-Identifier: Apache-2.0
"""Prints the cases of a walk that are not answered as the rules and misuse.tsv say:

    python -m misuse.walk > /tmp/walk.jsonl && python -m misuse.compare /tmp/walk.jsonl  (in tests/)
"""

import json
import sys

from misuse import exceptions, functions


def main():
    table = exceptions.load()
    by_name = {function.name: function for function in functions.load()}
    with open(sys.argv[1], encoding="utf-8") as file:
        for result in map(json.loads, file):
            function = by_name[result["function"]]
            argument = function.argument(result["argument"])
            expected, _ = exceptions.expected(table, function, result["kind"], argument)
            if result["outcome"] != expected:
                print(function.name, result["kind"], result["argument"], result["outcome"],
                      f"expected {expected}: {result['message']}", sep="\t")


if __name__ == "__main__":
    main()
