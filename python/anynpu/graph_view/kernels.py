# SPDX-License-Identifier: Apache-2.0
"""Which kernel each operator of a .om gets on this machine, and the times of a profile."""
import os
import re
import subprocess
import sys

LOAD = """
import sys, acl
assert acl.init() == 0 and acl.rt.set_device(0) == 0
model, code = acl.mdl.load_from_file(sys.argv[1])
sys.exit(code != 0)
"""
CHOSEN = re.compile(r"^anynpu,dispatch,\S+ '(.*)',([^,]*),chosen(?:: (.*))?$")


def chosen_kernels(path):
    """{operator: kernel}; empty for models that are not loaded as they are."""
    if not path.endswith(".om"):
        return {}
    done = subprocess.run([sys.executable, "-c", LOAD, os.path.abspath(path)], capture_output=True,
                          text=True, check=False, env={**os.environ, "ANYNPU_VERBOSE": "dispatch"})
    found = {}
    for line in done.stderr.splitlines():
        if match := CHOSEN.match(line):
            name, kernel, note = match.groups()
            found[name] = f"{kernel} ({note})" if note else kernel
    return found


class Timing:
    """Microseconds of an operator over the runs of a profile."""

    def __init__(self, row):
        self.count, self.mean, self.p99, self.total = (
            row["count"], row["mean"], row["p99"], row["total"])

    def data(self):
        return {"count": self.count, "mean": self.mean, "p99": self.p99, "total": self.total}


def profile_times(path):
    """({operator: Timing}, {operator: kernel}) of a PROF_* directory. Raises RecordingError."""
    from anynpu.msprof.recording import RecordingError
    from anynpu.report.figures import operators
    from anynpu.report.lanes import open_source
    source = open_source(path)
    if source.work is None:
        raise RecordingError(f"'{path}' is a bare trace; --profile takes a PROF_* directory")
    times = {}
    for row in operators(source):
        times.setdefault(row["name"], Timing(row))
    work, kernels = source.work, {}
    for name, text in dict.fromkeys(zip(work.ops["name"].tolist(), work.ops["arg"].tolist())):
        kernel = work.text(text).kernel
        if kernel and kernel != "N/A":
            kernels.setdefault(work.name(name), kernel)
    return times, kernels
