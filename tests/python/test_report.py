# SPDX-License-Identifier: Apache-2.0
"""anynpu report: the page in a real browser, and the forms of other viewers."""
import csv
import json
import os
import shutil
import subprocess

import numpy as np
import pytest
from model_datasets import Model
from prof_case import API, MEMORY, TASK, directory, make_model, session

import acl

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def report(*arguments):
    return subprocess.run(["anynpu", "report", *map(str, arguments)], capture_output=True,
                          text=True, timeout=120)


@pytest.fixture(scope="module")
def profiles(tmp_path_factory):
    """Two profiles of one model; the second ran more often."""
    model_path = make_model(tmp_path_factory.mktemp("model"))
    found = []
    for times in (4, 6):
        folder = tmp_path_factory.mktemp("profile")
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        with session(folder, API | TASK | MEMORY):
            stream, _ = acl.rt.create_stream()
            model = Model(model_path)
            model.feed(np.ones([1, 3, 32, 32], np.float32))
            for _ in range(times):
                assert acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream) == 0
            assert acl.rt.synchronize_stream(stream) == 0
            model.close()
            assert acl.rt.destroy_stream(stream) == 0
        assert acl.rt.reset_device(0) == 0
        assert acl.finalize() == 0
        found.append(directory(folder))
    return found


@pytest.fixture(scope="module")
def page(profiles, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    done = report(profiles[1], "-o", path, "--diff", profiles[0])
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright
    assert CHROMIUM, "the page is tested with chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM,
                                             args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture
def opened(browser, page):
    """The page, opened; at the end nothing may have been printed to its console."""
    tab = browser.new_page(viewport={"width": 1300, "height": 900})
    said, asked = [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"file://{page}")
    tab.wait_for_function("window.ready === true")
    yield tab
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    tab.close()


def test_page_shows_lanes_operators_and_where_the_time_went(opened):
    assert "slices in" in opened.inner_text("#facts")
    groups = opened.evaluate("data.lanes.map(l => l.group)")
    assert "Host" in groups and "Device 0" in groups
    assert "first" in opened.inner_text("#operators")
    assert "computing" in opened.inner_text("#breakdown")
    assert "aclmdlExecuteAsync" in opened.inner_text("#calls")


def test_labels_of_the_axis_do_not_overlap(opened):
    labels = opened.evaluate("""() => {
      const placed = [], fake = { fillText: (text, x) => placed.push([x, text]), beginPath() {},
                                  moveTo() {}, lineTo() {}, stroke() {} };
      for (const span of [700, 29e6, 2.9e9, 1.01e6]) {
        view.from = 0; view.to = span;
        const before = placed.length;
        drawAxis(fake, 1000 / span, 1190);
        placed.slice(before).forEach((p, i, all) => {
          if (i && p[0] - all[i - 1][0] < 80) throw new Error(`${all[i - 1]} ${p}`);
        });
      }
      return placed.map(p => p[1]);
    }""")
    assert len(labels) > 12 and {"0 ns", "5 ms", "1.0 s"} <= set(labels)


def test_the_bytes_of_copies_are_spread_over_their_time(profiles):
    from anynpu.report import figures
    from anynpu.report.lanes import open_source
    source = open_source(profiles[0])
    copies = source.work.copies
    total = sum(figures.bandwidth(source)) * (source.end - source.begin) / figures.BUCKETS / 1e9
    assert abs(total - int(copies["arg"].sum())) < 1e-6 * total + 1


def test_pages_of_nothing_and_of_one_event_are_clear(browser, tmp_path):
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    for name, bits in (("nothing", TASK), ("one", API)):
        with session(tmp_path / name, bits):
            acl.rt.get_device()
        assert report(directory(tmp_path / name), "-o", tmp_path / f"{name}.html").returncode == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    for name, words in (("nothing", "Nothing was recorded"), ("one", "1 slice in")):
        tab = browser.new_page()
        said = []
        tab.on("console", lambda message, said=said: said.append(message.text))
        tab.on("pageerror", lambda error, said=said: said.append(str(error)))
        tab.goto(f"file://{tmp_path / name}.html")
        tab.wait_for_function("window.ready === true")
        assert words in tab.inner_text("body") and said == []
        assert not tab.is_visible("#operators-part")
        assert tab.is_visible("#timeline-part") == (name == "one")
        tab.close()


def test_wheel_zooms_and_the_button_shows_all(opened):
    wall = opened.evaluate("view.to - view.from")
    box = opened.locator("#canvas").bounding_box()
    opened.mouse.move(box["x"] + 600, box["y"] + 60)
    for _ in range(3):
        opened.mouse.wheel(0, -120)
    opened.wait_for_function(f"view.to - view.from < {wall / 2}")
    opened.click("#all")
    assert opened.evaluate("view.to - view.from") == wall


def test_click_selects_a_slice_and_its_partners(opened):
    opened.evaluate("""() => {
      const lane = data.lanes.find(l => l.group === 'Device 0');
      const i = Array.from(lane.name).findIndex(n => data.names[n] === 'MODEL_EXECUTE');
      setView(lane.t[i] - lane.d[i], lane.t[i] + 2 * lane.d[i]);
      draw();
      $('timeline').scrollTop = lane.y - 50;
    }""")
    spot = opened.evaluate("""() => {
      const lane = data.lanes.find(l => l.group === 'Device 0');
      const i = Array.from(lane.name).findIndex(n => data.names[n] === 'MODEL_EXECUTE');
      const scale = (canvas.clientWidth - LEFT) / (view.to - view.from);
      const box = canvas.getBoundingClientRect();
      return [box.x + LEFT + (lane.t[i] + lane.d[i] / 2 - view.from) * scale,
              box.y + lane.y + ROW / 2];
    }""")
    opened.mouse.click(*spot)
    text = opened.inner_text("#details")
    assert "MODEL_EXECUTE" in text and "tied to" in text and "aclmdlExecuteAsync" in text


def test_operators_are_filtered_and_sorted(opened):
    opened.fill("#filter", "sigmoid")
    rows = opened.locator("#operators tr")
    assert rows.count() == 2 and "middle" in rows.nth(1).inner_text()
    opened.fill("#filter", "")
    opened.click("#operators th:has-text('name')")
    names = opened.locator("#operators tr td:first-child").all_inner_texts()
    assert names == sorted(names, reverse=True)


def test_comparison_says_how_much_changed(opened, profiles):
    assert os.path.basename(profiles[0]) in opened.inner_text("#diff-part")
    text = opened.inner_text("#sentence")
    assert "us an execution" in text and ("slower" in text or "faster" in text)
    assert opened.locator("#diff tr").count() >= 4


def test_perfetto_has_small_numbers_and_nesting_slices(profiles, tmp_path):
    assert report(profiles[0], "--perfetto", tmp_path / "p.json").returncode == 0
    trace = json.loads((tmp_path / "p.json").read_text())
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert all(0 <= e["ts"] < 1e9 for e in slices)
    flows = [e for e in trace["traceEvents"] if e["ph"] in "sf"]
    assert flows and max(e["id"] for e in flows) == len(flows) / 2
    lanes = {}
    for event in slices:
        lanes.setdefault((event["pid"], event["tid"]), []).append(
            (event["ts"], event["ts"] + event["dur"]))
    for lane in lanes.values():
        stack = []
        for begin, end in sorted(lane, key=lambda s: (s[0], -s[1])):
            while stack and stack[-1] <= begin + 1e-6:
                stack.pop()
            assert not stack or end <= stack[-1] + 1e-3
            stack.append(end)


def test_speedscope_opens_and_closes_every_frame_in_order(profiles, tmp_path):
    assert report(profiles[0], "--speedscope", tmp_path / "s.json").returncode == 0
    value = json.loads((tmp_path / "s.json").read_text())
    for profile in value["profiles"]:
        stack, at = [], 0
        for event in profile["events"]:
            assert event["at"] >= at
            at = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack


def test_tables_and_traces_without_a_page(profiles, tmp_path):
    assert report(profiles[0], "--csv", tmp_path / "csv").returncode == 0
    with open(tmp_path / "csv" / "op_summary.csv", newline="") as file:
        assert [r["Op Name"] for r in csv.DictReader(file)].count("first") == 4
    assert not os.path.exists("report.html")
    assert report(profiles[0], "--perfetto", tmp_path / "p.json").returncode == 0
    done = report(tmp_path / "p.json", "-o", tmp_path / "again.html")
    assert done.returncode == 0 and "slices" in done.stdout


def test_bad_input_is_explained(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "empty.json").write_text("[]")
    for path, words in ((tmp_path / "none", "does not exist"), (tmp_path, "has 0 PROF_*"),
                        (tmp_path / "bad.json", "cannot be read as a trace"),
                        (tmp_path / "empty.json", "no slices")):
        done = report(path, "-o", tmp_path / "r.html")
        assert done.returncode == 1 and words in done.stderr, done.stderr
        assert not (tmp_path / "r.html").exists()
