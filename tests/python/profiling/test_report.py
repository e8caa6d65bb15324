# SPDX-License-Identifier: Apache-2.0
"""anynpu report: the page in a real browser, and the forms of other viewers."""
import csv
import json
import os

import numpy as np
from prof_case import API, TASK, directory, report, session

import acl

pytest_plugins = ["report_case"]  # its fixtures


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


def spot_of(tab, name):
    """Where a slice of the first device is on the screen, after the view was set around it."""
    return tab.evaluate("""name => {
      const lane = data.lanes.find(l => l.group === 'Device 0');
      const i = Array.from(lane.name).findIndex(n => data.names[n] === name);
      setView(lane.t[i] - lane.d[i], lane.t[i] + 2 * lane.d[i]);
      draw();
      const scale = (canvas.clientWidth - LEFT) / (view.to - view.from);
      const at = canvas.getBoundingClientRect();
      return [at.x + LEFT + (lane.t[i] + lane.d[i] / 2 - view.from) * scale,
              at.y + lane.y + (lane.depth[i] + 0.5) * ROW - box.scrollTop];
    }""", name)


def test_click_selects_a_slice_and_its_partners(opened):
    opened.mouse.click(*spot_of(opened, "MODEL_EXECUTE"))
    text = opened.inner_text("#details")
    assert "MODEL_EXECUTE" in text and "tied to" in text and "aclmdlExecuteAsync" in text


def test_details_of_an_operator_have_its_type_and_shapes(opened):
    opened.mouse.click(*spot_of(opened, "first"))
    text = opened.inner_text("#details")
    assert "Conv" in text and "1,3,32,32" in text and "out 1,8,32,32 FLOAT" in text


def test_the_mouse_over_a_slice_tells_its_name_and_time(opened):
    assert not opened.is_visible("#tip")
    opened.mouse.move(*spot_of(opened, "MODEL_EXECUTE"))
    assert opened.inner_text("#tip").startswith("MODEL_EXECUTE")
    opened.mouse.move(2, 2)
    assert not opened.is_visible("#tip")


def test_double_click_and_keys_zoom_and_move(opened):
    opened.mouse.dblclick(*spot_of(opened, "MODEL_EXECUTE"))
    # A fifth more than the slice, unless the whole profile is shorter than that.
    wanted = "Math.min(1.2 * Array.from(selected.lane.d)[selected.i], data.wall)"
    assert opened.evaluate(f"Math.abs((view.to - view.from) / ({wanted}) - 1) < 0.01")
    before = opened.evaluate("[view.from, view.to - view.from]")
    opened.keyboard.press("w")
    opened.keyboard.press("d")
    after = opened.evaluate("[view.from, view.to - view.from]")
    assert after[1] < before[1] and after[0] > before[0]
    opened.focus("#find")
    opened.keyboard.press("s")  # is a letter there
    assert opened.evaluate("view.to - view.from") == after[1]
    assert opened.input_value("#find") == "s"


def test_a_name_is_found_slice_after_slice_and_from_the_table(opened):
    opened.click("#operators tr:has-text('middle')")
    assert opened.input_value("#find") == "middle"
    starts = []
    for _ in range(7):
        opened.press("#find", "Enter")
        assert opened.inner_text("#details").startswith("middle")
        starts.append(opened.evaluate("selected.lane.t[selected.i]"))
    assert len(set(starts[:6])) == 6 and starts[6] == starts[0]  # it ran six times


def test_lanes_that_do_not_fit_are_scrolled_under_the_axis(browser, tmp_path):
    events = [{"ph": "X", "pid": 1, "tid": i, "ts": i, "dur": 5000, "name": f"work {i}"}
              for i in range(3000)]
    (tmp_path / "t.json").write_text(json.dumps(events))
    assert report(tmp_path / "t.json", "-o", tmp_path / "t.html").returncode == 0
    tab = browser.new_page(viewport={"width": 1300, "height": 900})
    tab.goto(f"file://{tmp_path / 't.html'}")
    tab.wait_for_function("window.ready === true")
    assert tab.evaluate("canvas.height") <= 900  # browsers draw nothing on canvases too tall
    tab.evaluate("box.scrollTop = 1e9")
    tab.wait_for_function("box.scrollTop > 50000")
    at = tab.locator("#canvas").bounding_box()
    tab.mouse.click(at["x"] + 800, at["y"] + at["height"] - 18)
    assert "work " in tab.inner_text("#details")
    assert "work 0" not in tab.inner_text("#details")
    tab.close()


def test_thinning_the_memory_keeps_its_peak():
    from anynpu.report.figures import _peaks
    values = np.arange(100_000) % 100
    values[54_321] = 1_000_000
    kept = _peaks(values, 2000)
    assert len(kept) <= 2002 and 54_321 in kept and kept[-1] == 99_999
    assert kept == sorted(kept) and _peaks(values[:0], 5) == [] and _peaks(values[:1], 5) == [0]


def test_operators_are_filtered_and_sorted(opened):
    opened.fill("#filter", "softmax")
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


def test_perfetto_has_small_numbers(profiles, tmp_path):
    assert report(profiles[0], "--perfetto", tmp_path / "p.json").returncode == 0
    trace = json.loads((tmp_path / "p.json").read_text())
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert all(0 <= e["ts"] < 1e9 for e in slices)
    flows = [e for e in trace["traceEvents"] if e["ph"] in "sf"]
    assert flows and max(e["id"] for e in flows) == len(flows) / 2


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


def test_a_directory_of_mindspore_profiler_shows_python_functions(browser, tmp_path):
    from anynpu.profiler import profile, tensorboard_trace_handler
    tensorboard_trace_handler(str(tmp_path))
    with profile(with_stack=True) as running:
        json.dumps(list(range(1000)), indent=1)
    assert report(running.directory, "-o", tmp_path / "r.html").returncode == 0
    tab = browser.new_page()
    tab.goto(f"file://{tmp_path / 'r.html'}")
    tab.wait_for_function("window.ready === true")
    assert "dumps" in tab.inner_text("#stacks")
    assert "Python" in tab.evaluate("data.lanes.map(l => l.group)")
    tab.close()


def test_events_of_a_trace_that_make_no_sense_are_left_out(tmp_path):
    good = {"ph": "X", "pid": 1, "tid": 2, "ts": "5.250", "dur": 1.5, "name": "good"}
    odd = [{**good, key: value} for key in ("pid", "tid", "ts", "dur", "ph")
           for value in ([1], {}, None, "x", 1e400, -1, 10**30)]
    odd += [5, None, [], {"ph": "M", "name": "thread_name", "args": [1], "pid": 1, "tid": 2},
            {"ph": "M", "name": "process_name", "args": {"name": 7}, "pid": 1}]
    (tmp_path / "odd.json").write_text(json.dumps({"traceEvents": [*odd, good]}))
    (tmp_path / "deep.json").write_text("[" * 200_000)
    done = report(tmp_path / "odd.json", "-o", tmp_path / "odd.html")
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    from anynpu.report.lanes import open_source
    lanes = open_source(str(tmp_path / "odd.json")).lanes
    assert any(lane.title == "Thread 2" and (lane.slices["duration"] == 1500).any()
               for lane in lanes)
    done = report(tmp_path / "deep.json", "-o", tmp_path / "deep.html")
    assert done.returncode == 1 and "cannot be read as a trace" in done.stderr


def test_names_are_text_whatever_they_hold(browser, tmp_path):
    names = ["<!--<script>", "</script><script>document.title = 'taken'</script>", "<!--", "]]>",
             "<img src=x onerror=\"document.title = 'taken'\">", "&lt;b&gt;", "\u2028", "\\u003c"]
    events = [{"ph": "X", "pid": 1, "tid": i, "ts": i, "dur": 1.5, "name": name}
              for i, name in enumerate(names)]
    (tmp_path / "names.json").write_text(json.dumps({"traceEvents": events}))
    done = report(tmp_path / "names.json", "-o", tmp_path / "names.html")
    assert done.returncode == 0, done.stderr
    tab = browser.new_page()
    said = []
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(f"file://{tmp_path / 'names.html'}")
    tab.wait_for_function("window.ready === true")
    assert set(names) <= set(tab.evaluate("data.names"))
    assert said == [] and tab.title() != "taken"
    assert tab.evaluate("document.images.length") == 0
    tab.close()


def test_bad_input_is_explained(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "empty.json").write_text("[]")
    for path, words in ((tmp_path / "none", "does not exist"), (tmp_path, "has 0 PROF_*"),
                        (tmp_path / "bad.json", "cannot be read as a trace"),
                        (tmp_path / "empty.json", "no slices")):
        done = report(path, "-o", tmp_path / "r.html")
        assert done.returncode == 1 and words in done.stderr, done.stderr
        assert not (tmp_path / "r.html").exists()
