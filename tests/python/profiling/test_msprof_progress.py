# SPDX-License-Identifier: Apache-2.0
"""How far an export is: what `msprof` says is done is about what is done, so that the time it says
is left is about right from the first line on."""
import glob
import subprocess
import sys
import textwrap
import time

import pytest

from anynpu.msprof import export as exporting
from anynpu.terminal import Progress

PROGRAM = """
    import acl
    assert acl.init() == acl.rt.set_device(0) == 0
    stamp = acl.prof.create_stamp()
    acl.prof.set_stamp_trace_message(stamp, "mark", 4)
    for _ in range({stamps}):
        acl.prof.mark(stamp)
    acl.prof.destroy_stamp(stamp)
    stream, _ = acl.rt.create_stream()
    memory, _ = acl.rt.malloc(64, 0)
    for _ in range({tasks}):
        acl.rt.memset_async(memory, 64, 0, 64, stream)
    assert acl.rt.synchronize_stream(stream) == 0
"""


@pytest.mark.parametrize("stamps, tasks", [(60_000, 100), (100, 15_000)])
def test_what_is_said_to_be_done_is_about_what_is_done(tmp_path, monkeypatch, stamps, tasks):
    app = tmp_path / "app.py"
    app.write_text(textwrap.dedent(PROGRAM).format(stamps=stamps, tasks=tasks))
    subprocess.run(["msprof", "--msproftx=on", f"--output={tmp_path}/prof", sys.executable, app],
                   check=True, capture_output=True, timeout=300)
    seen = []

    class Watched(Progress):
        def step(self, count=1):
            super().step(count)
            seen.append((time.process_time(), self.done, self.total))
    monkeypatch.setattr(exporting, "Progress", Watched)
    begin = time.process_time()
    exporting.export(glob.glob(f"{tmp_path}/prof/PROF_*")[0])
    end, done, total = seen[-1]
    assert done == total
    wrong = [(at - begin) / (end - begin) - steps / total for at, steps, _ in seen]
    assert max(map(abs, wrong)) < 0.3, wrong
