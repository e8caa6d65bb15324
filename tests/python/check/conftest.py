# SPDX-License-Identifier: Apache-2.0
"""Runs programs under `anynpu check`."""
import json
import os
import re
import subprocess
import textwrap

import pytest
from build_tree import ROOT

EXAMPLES = os.path.join(ROOT, "examples")


def marked(path, words="found"):
    """(kind, line) of the comments `found: kind` in a program."""
    with open(path, encoding="utf-8") as file:
        return sorted((match[1], number) for number, line in enumerate(file, start=1)
                      for match in re.finditer(rf"(?:#|//) {words}: ([\w-]+)", line))


class Checked:
    def __init__(self, done, report):
        self.done, self.report = done, report

    @property
    def findings(self):
        return self.report["findings"]

    def places(self):
        """(kind, line) of each finding, in the innermost frame of its first place."""
        return sorted((f["kind"], f["places"][0]["frames"][0]["line"]) for f in self.findings)

    def kinds(self):
        return sorted(f["kind"] for f in self.findings)


@pytest.fixture
def check(tmp_path):
    def run(*arguments, options=(), cwd=None, **env):
        out = tmp_path / "report.json"
        done = subprocess.run(["anynpu", "check", "--json", "-o", str(out), *options, *arguments],
                              capture_output=True, text=True, timeout=300, cwd=cwd or tmp_path,
                              env={**os.environ, **env})
        return Checked(done, json.loads(out.read_text()) if out.exists() else None)
    return run


@pytest.fixture
def check_text(tmp_path, check):
    """Runs a Python program between a start and an end that are right."""
    def run(text, options=(), **env):
        path = tmp_path / "app.py"
        path.write_text("import acl\nassert acl.init() == 0 and acl.rt.set_device(0) == 0\n"
                        + textwrap.dedent(text)
                        + "\nassert acl.rt.reset_device(0) == 0 and acl.finalize() == 0\n")
        return check(str(path), options=options, **env)
    return run
