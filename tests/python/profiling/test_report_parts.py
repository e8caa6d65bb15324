# SPDX-License-Identifier: Apache-2.0
"""anynpu report: types, stamps, ranges, tracks, the roofline, slow runs, large profiles, notebooks,
dark mode."""
import json

import numpy as np
import pytest
from prof_case import API, TASK, directory, report, session

import acl
import anynpu
from anynpu.msprof.work import OpText
from anynpu.report import figures, operations, peaks
from anynpu.report.lanes import SLICE, Lane, Source, open_source
from anynpu.report.page import page_text

pytest_plugins = ["report_case"]  # its fixtures


def test_operators_are_summed_by_type(opened, profiles):
    rows = figures.operators(open_source(profiles[1]))
    for one in figures.types(rows):
        mine = [row for row in rows if row["type"] == one["name"]]
        assert one["operators"] == len(mine) and one["count"] == sum(r["count"] for r in mine)
        assert abs(one["total"] - sum(r["total"] for r in mine)) < 1e-6
    assert "Conv" in opened.inner_text("#types")


def test_a_dragged_range_shows_its_statistics(opened):
    box = opened.locator("#canvas").bounding_box()
    assert not opened.is_visible("#range-part")
    opened.keyboard.down("Shift")
    opened.mouse.move(box["x"] + 300, box["y"] + 60)
    opened.mouse.down()
    opened.mouse.move(box["x"] + 900, box["y"] + 60, steps=5)
    opened.mouse.up()
    opened.keyboard.up("Shift")
    assert opened.is_visible("#range-part")
    found = opened.evaluate("""() => {
      const { rows } = rangeRows();
      const inside = data.lanes.flatMap(
        l => Array.from(l.t).filter(t => t >= range.from && t < range.to));
      return [rows.reduce((n, r) => n + r.count, 0), inside.length, range.from, range.to];
    }""")
    assert found[0] == found[1] and 0 < found[2] < found[3]
    opened.click("#range-zoom")
    assert opened.evaluate("Math.abs(view.from - range.from) < 1 && view.to <= range.to + 1")
    opened.click("#range-end")
    assert not opened.is_visible("#range-part")


def test_memory_and_operations_are_tracks_below_the_lanes(opened):
    titles = opened.evaluate("tracks.map(t => t.title)")
    assert "operations" in titles and any(t.startswith("memory of device") for t in titles)
    assert opened.evaluate("tracks.every(t => t.y > data.lanes[data.lanes.length - 1].y)")
    at = opened.evaluate("""() => { const t = tracks.find(t => t.title === 'operations');
      const c = canvas.getBoundingClientRect();
      return [c.x + 500, c.y + t.y + 10 - box.scrollTop]; }""")
    opened.evaluate("box.scrollTop = 1e6")
    opened.wait_for_timeout(100)
    shift = opened.evaluate("box.scrollTop")
    opened.mouse.move(at[0], at[1] - shift)
    assert "FLOP/s" in opened.inner_text("#tip")


def test_the_roofline_has_a_point_for_each_operator(opened):
    assert opened.is_visible("#roofline-part")
    assert "measured with numpy" in opened.inner_text("#roofline-words")
    assert opened.evaluate("data.roofline.length > 0 && data.peaks.flops > 1e8")


def op(kind, inputs, outputs, types="float32"):
    ins, outs = ";".join([types] * (inputs.count(";") + 1)), types
    return OpText("\t".join([kind, "kernel", inputs, ins, "", outputs, outs, ""]))


def test_operations_and_bytes_follow_from_the_shapes():
    conv = op("Conv2D", "1,3,32,32;8,3,3,3;8", "1,8,32,32")
    assert operations.flops_of(conv) == 2 * 8 * 32 * 32 * 3 * 3 * 3
    assert operations.size_of(conv) == 4 * (3 * 1024 + 8 * 27 + 8 + 8 * 1024)
    assert operations.flops_of(op("MatMul", "4,16,32;32,8", "4,16,8")) == 2 * 4 * 16 * 32 * 8
    assert operations.flops_of(op("Relu", "10,10", "10,10")) == 100
    assert operations.flops_of(op("Relu", "", "")) == 0
    assert operations.size_of(op("Relu", "10,10", "10,10", "float16")) == 400


def test_peaks_are_measured_once(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCEND_CACHE_PATH", str(tmp_path))
    first = peaks.peaks()
    assert first["flops"] > 1e8 and first["bandwidth"] > 1e8
    monkeypatch.setattr(peaks, "measure", lambda: pytest.fail("measured again"))
    assert peaks.peaks() == first


class Work:
    """A recording with one operator whose runs took so long (ns)."""

    def __init__(self, durations):
        self.ops = np.zeros(len(durations), [("name", "u4"), ("duration", "u8")])
        self.ops["duration"] = durations

    @staticmethod
    def name(number):
        return "conv1"


def slow(durations):
    return figures.slow_runs(Source("x", work=Work(durations)))


def test_a_slow_first_run_and_slow_runs_between_are_told():
    assert slow([1000] * 20) == []
    first = slow([9000] + [1000] * 9)
    assert len(first) == 1 and first[0].startswith("The first run was slow: 1 operator")
    every = slow(([1000] * 4 + [30000]) * 4)
    assert len(every) == 1 and "every 5 runs" in every[0] and "4 of 20 runs" in every[0]
    assert slow([9000, 1000]) == [], "too few runs to tell"


def test_stamps_of_the_program_have_a_row_and_a_table(browser, tmp_path):
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    with session(tmp_path / "stamped", API | TASK | 0x80):
        for _ in range(3):
            stamp = acl.prof.create_stamp()
            assert acl.prof.set_stamp_trace_message(stamp, "my step", 7) == 0
            assert acl.prof.push(stamp) == 0
            acl.rt.get_device()
            assert acl.prof.pop() == 0
            acl.prof.destroy_stamp(stamp)
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    path = tmp_path / "stamped.html"
    done = report(directory(tmp_path / "stamped"), "-o", path)
    assert done.returncode == 0, done.stderr
    tab = browser.new_page()
    tab.goto(f"file://{path}")
    tab.wait_for_function("window.ready === true")
    assert "Stamps" in tab.evaluate("data.lanes.map(l => l.group)")
    assert "my step" in tab.inner_text("#stamps") and "3" in tab.inner_text("#stamps")
    tab.close()


def test_a_million_slices_are_zoomed_at_thirty_frames_a_second(browser, tmp_path):
    source = Source("million", names=[f"op{i}" for i in range(100)], begin=0, end=10 ** 10)
    generator = np.random.default_rng(1)
    for lane in range(8):
        slices = np.zeros(125000, SLICE)
        slices["t"] = np.sort(generator.integers(0, 10 ** 10, len(slices)))
        slices["duration"] = 0.8 * np.diff(slices["t"], append=10 ** 10)
        slices["name"] = generator.integers(0, 100, len(slices))
        source.lanes.append(Lane("Device 0", f"Stream {lane}", slices))
    path = tmp_path / "million.html"
    path.write_text(page_text(source))
    tab = browser.new_page(viewport={"width": 1300, "height": 900})
    tab.goto(f"file://{path}")
    tab.wait_for_function("window.ready === true")
    assert "1,000,000 slices" in tab.inner_text("#facts")
    taken = tab.evaluate("""() => { const took = [];
      for (let i = 0; i < 40; ++i) { zoom(5e9, 0.93); const t = performance.now(); draw();
        took.push(performance.now() - t); }
      return took.sort((a, b) => a - b)[4]; }""")
    tab.close()
    assert taken < 33, f"{taken} ms a frame"  # of the best: other tests use the cores too


def test_the_page_has_a_dark_mode(browser, page):
    for scheme, dark in (("light", False), ("dark", True)):
        tab = browser.new_page(color_scheme=scheme)
        tab.goto(f"file://{page}")
        tab.wait_for_function("window.ready === true")
        body = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, body[4:-1].split(","))) < 200) == dark
        corner = tab.evaluate("Array.from(canvas.getContext('2d').getImageData(2, 40, 1, 1).data)")
        assert (sum(corner[:3]) < 300) == dark, "the canvas too"
        tab.close()


def test_a_notebook_shows_the_page_in_a_cell(profiles, tmp_path):
    shown = anynpu.report(str(profiles[0]), height=500)
    cell = shown._repr_html_()
    assert cell.startswith("<iframe srcdoc=") and "height:500px" in cell
    assert "<script" not in cell, "it is escaped"
    assert "save(path)" in repr(shown)
    shown.save(str(tmp_path / "saved.html"))
    assert (tmp_path / "saved.html").read_text() == shown.text


def test_a_long_report_says_how_far_it_is(tmp_path, monkeypatch, capsys):
    from anynpu import cli, terminal
    monkeypatch.setattr(terminal, "QUIET_S", 0)
    monkeypatch.setattr(terminal, "LOG_S", 0)
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps([{"ph": "X", "ts": 1, "dur": 2, "name": "a", "pid": 1, "tid": 1}]))
    assert cli.main(["report", str(trace), "-o", str(tmp_path / "page.html")]) == 0
    lines = capsys.readouterr().err.splitlines()
    parts = len(lines)
    assert parts > 5 and lines[0].startswith(f"trace.json: 1 of {parts} parts, ")
    assert lines[0].endswith("left") and lines[-1].startswith(f"trace.json: {parts} of {parts} ")
