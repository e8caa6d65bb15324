# SPDX-License-Identifier: Apache-2.0
"""The numbers of the page of `anynpu report`, worked out by hand: percentiles, where the time went
and why a device was idle, Python functions by their own time, and what got slower by how much."""
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from prof_case import report

from anynpu.msprof.recording import ROW
from anynpu.msprof.work import ENGINES
from anynpu.report import figures

pytest_plugins = ["report_case"]  # its fixtures

NAMES = ["execute", "copy", "wait"]


def rows(*given):
    """(begin, end, engine or name[, device]) as events."""
    made = np.zeros(len(given), ROW)
    for row, (begin, end, what, *device) in zip(made, given):
        row["t"], row["duration"] = begin, end - begin
        row["d_first"] = device[0] if device else 0
        if what in ENGINES:
            row["d_second"] = ENGINES.index(what)
        else:
            row["name"] = NAMES.index(what)
    return made


def source_of(tasks, apis, begin, end):
    work = SimpleNamespace(tasks=tasks, apis=apis, name=NAMES.__getitem__,
                           device_ids=sorted(set(tasks["d_first"].tolist())))
    return SimpleNamespace(work=work, begin=begin, end=end)


def test_the_parts_of_the_time_add_up_and_overlaps_count_once():
    tasks = rows((100, 300, "compute"), (250, 400, "h2d"), (260, 280, "d2h"), (380, 500, "vpc"),
                 (600, 650, "d2d"), (700, 750, "control"), (0, 1000, "compute", 1))
    first, second = figures.breakdown(source_of(tasks, rows(), 0, 1000))
    assert first["parts"] == {"computing": 200 + 120, "copying": 80 + 50, "waiting": 50,
                              "idle": 500}
    assert second["parts"] == {"computing": 1000, "copying": 0, "waiting": 0, "idle": 0}
    assert first["wall"] == second["wall"] == 1000 and first["causes"] == []


def test_idle_time_is_told_by_the_calls_of_the_host_meanwhile():
    """A call inside of another, calls beside each other in two threads, one while the device was
    busy: each name has its own time, and together they count once."""
    tasks = rows((200, 600, "compute"))
    apis = rows((0, 100, "copy"), (20, 60, "wait"), (50, 150, "execute"), (210, 590, "execute"),
                (550, 700, "wait"))
    [device] = figures.breakdown(source_of(tasks, apis, 0, 1000))
    assert device["parts"]["idle"] == 200 + 400
    assert dict(device["causes"]) == {"copy": 100, "execute": 100, "wait": 40 + 100,
                                      "outside of calls": 600 - 150 - 100}
    times = [ns for _, ns in device["causes"]]
    assert times == sorted(times, reverse=True)


def test_functions_are_ordered_by_their_own_time():
    stacks = [(1, 0, 0, 100, "main"), (1, 0, 10, 60, "read"), (1, 0, 20, 30, "parse"),
              (1, 0, 70, 10, "parse"), (2, 0, 0, 5, "main")]
    assert figures.top_stacks(SimpleNamespace(stacks=stacks)) == [
        ("parse", 40, 40, 2), ("main", 35, 105, 2), ("read", 30, 60, 1)]


def trace(path, **durations):
    """Slices of each name one after the other, in microseconds."""
    events, at = [], 1.0
    for name, times in durations.items():
        for time in times:
            events.append({"ph": "X", "pid": 1, "tid": 1, "ts": at, "dur": time, "name": name})
            at += time + 1
    path.write_text(json.dumps(events))
    return path


@pytest.fixture(scope="module")
def compared(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    old = trace(folder / "old.json", slow=[10] * 100, same=[7] * 100, gone=[4] * 100,
                fast=[20] * 100)
    new = trace(folder / "new.json", slow=range(1, 101), same=[7] * 100, new=[4] * 100,
                fast=[15] * 100)
    assert report(new, "-o", folder / "r.html", "--diff", old).returncode == 0
    tab = browser.new_page()
    tab.goto(f"file://{folder / 'r.html'}")
    tab.wait_for_function("window.ready === true")
    yield tab
    tab.close()


def cells(tab, table):
    """first cell -> {column: text} of a table of the page."""
    head = [re.sub(r"\W*$", "", h) for h in tab.locator(f"#{table} th").all_inner_texts()]
    found = {}
    for row in tab.locator(f"#{table} tr").all()[1:]:
        texts = row.locator("td").all_inner_texts()
        found[texts[0]] = dict(zip(head, texts))
    return found


def test_the_table_has_totals_means_and_percentiles(compared):
    slow = cells(compared, "operators")["slow"]
    assert (slow["count"], slow["total us"], slow["mean us"], slow["max us"]) \
        == ("100", "5050.000", "50.500", "100.000")
    assert (slow["p50 us"], slow["p90 us"], slow["p99 us"]) == ("50.500", "90.100", "99.010")
    share = float(slow["share"])
    assert share == pytest.approx(100 * 5050 / (5050 + 700 + 400 + 1500), abs=0.06)


def test_a_column_sorts_both_ways(compared):
    def shown():
        compared.click("#operators th:has-text('p99')")
        return [float(c["p99 us"]) for c in cells(compared, "operators").values()]

    assert shown() == [99.01, 15.0, 7.0, 4.0] and shown() == [4.0, 7.0, 15.0, 99.01]


def test_the_comparison_names_what_got_slower_and_by_how_much(compared):
    told = cells(compared, "diff")
    assert list(told)[0] == "slow"  # the largest loss is first
    assert (told["slow"]["before us"], told["slow"]["now us"], told["slow"]["change us"],
            told["slow"]["times"]) == ("10.000", "50.500", "40.500", "5.05")
    assert (told["fast"]["change us"], told["fast"]["times"]) == ("-5.000", "0.75")
    assert (told["same"]["change us"], told["same"]["times"]) == ("0.000", "1.00")
    assert (told["gone"]["now us"], told["new"]["before us"]) == ("", "")
    sentence = compared.inner_text("#sentence")
    assert "76.5 us an execution, 41.0 us before: 86.6 % slower" in sentence
    assert "The largest loss is slow" in sentence and "10.0 us to 50.5 us, 5.05 times" in sentence


def test_the_page_says_how_the_time_divides_and_what_the_host_did(opened):
    legend = opened.locator("#breakdown .legend span").all_inner_texts()
    shares = {text.split()[0]: float(text.split()[1]) for text in legend}
    assert {"computing", "idle"} <= set(shares)
    assert abs(sum(shares.values()) - 100) < 0.3
    assert "While it was idle, the host was in: " in opened.inner_text("#breakdown")


def test_charts_tell_the_value_under_the_mouse(opened):
    for chart, words in (("memory", "device 0 "), ("bandwidth", "all copies ")):
        box = opened.locator(f"#{chart}")
        box.scroll_into_view_if_needed()
        at = box.bounding_box()
        opened.mouse.move(at["x"] + at["width"] / 2, at["y"] + 60)
        assert words in opened.inner_text("#tip")
        painted = opened.evaluate("""id => {
          const c = document.getElementById(id);
          return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v);
        }""", chart)
        assert painted
    peak = opened.evaluate("Math.max(...data.memory[0].map(p => p[1]))")
    assert peak >= 3 * 32 * 32 * 4
