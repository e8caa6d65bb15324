# SPDX-License-Identifier: Apache-2.0
"""The figures of `make bench` mean what its table says."""

import os
import sys

from build_tree import ROOT

sys.path.insert(0, os.path.join(ROOT, "bench"))

import harness  # noqa: E402
import make_docs  # noqa: E402


def test_the_interval_surrounds_the_median_and_ignores_outliers():
    values = [10.0 + i * 0.1 for i in range(31)] + [1e9]
    got = harness.estimate(values)
    assert got.low < got.median < got.high < 14
    assert abs(got.median - 11.55) < 0.01


def test_pairs_alternate_so_that_drift_cancels():
    clock = {"now": 0.0}

    def side(cost):
        def run():
            clock["now"] += 1.0  # a machine that gets slower and slower
            return cost * (1 + clock["now"] / 10)
        return run

    got = harness.ratio_of(side(2.0), side(1.0), pairs=40)
    assert abs(got.median - 2.0) < 0.1


def test_the_verdict_follows_the_interval_not_the_median():
    report = harness.Report()
    report.add("inside", 10, "ns", harness.Estimate(8, 7, 9))
    report.add("across", 10, "ns", harness.Estimate(9, 8, 11))
    report.add("outside", 10, "ns", harness.Estimate(12, 11, 13))
    assert [row["verdict"] for row in report.rows] == ["met", "near", "MISSED"]
    text = harness.table(report.rows, [{"what": "row", "reason": "no GPU"}])
    assert "<= 10.0 ns" in text and "row: not measured, no GPU" in text


def test_a_row_without_target_is_reported_and_the_chart_shows_speed_not_time():
    import draw_models

    report = harness.Report()
    report.add("Net: time against onnxruntime", None, "x", harness.Estimate(0.5, 0.4, 0.8),
               model="Net", peer="onnxruntime", clock="run")
    assert report.rows[0]["verdict"] == "reported"
    assert "<=" not in harness.table(report.rows)
    picture = draw_models.chart(report.rows, "run", "title")
    assert "2.00 x" in picture and "Net" in picture
    assert draw_models.chart(report.rows, "cpu", "title") is None


def page_of(folder, date, *names):
    report = harness.Report()
    for name in names:
        report.add(name, 10, "ns", harness.Estimate(8, 7, 9))
    machine = {"date": date, "cpu": "a CPU", "cores": 2, "kernel": "6", "python": "3", "load": 1.0,
               "real_time": False}
    make_docs.write_page("performance", machine, report.rows, [], str(folder))
    return (folder / "performance.md").read_text()


def test_rows_that_were_not_measured_again_stay_with_their_date(tmp_path):
    page_of(tmp_path, "2026-01-01", "first", "second")
    page_of(tmp_path, "2026-02-02", "second", "third")
    text = page_of(tmp_path, "2026-03-03", "third")
    new, old = text.split("## Measured earlier")
    assert "| third |" in new and "| second |" not in new
    dates = [(line.split(" | ")[0][2:], line.split(" | ")[-1][:10]) for line in old.splitlines()
             if line.endswith(" |") and line.startswith(("| first", "| second", "| third"))]
    assert dates == [("second", "2026-02-02"), ("first", "2026-01-01")]
