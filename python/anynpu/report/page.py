# SPDX-License-Identifier: Apache-2.0
"""The page: one HTML file with its style, its script and its data inside."""
from __future__ import annotations

import base64
import html
import os

from anynpu.html_data import json_in_html
from anynpu.report import figures, operations, peaks
from anynpu.whole_file import write_whole

FOLDER = os.path.dirname(os.path.abspath(__file__))

TEMPLATE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="icon" href="data:,"><style>{css}</style></head><body>
<header><h1>{title}</h1><span id="facts"></span></header>
<section id="nothing" hidden><h2>Nothing was recorded</h2>
<p class="hint">The collection ran, but nothing of what it asked for happened meanwhile. Start it
before the work and stop it after, and ask for calls (ACL_PROF_ACL_API) and tasks
(ACL_PROF_TASK_TIME).</p>
</section>
<section id="timeline-part"><h2>Timeline</h2>
<p class="hint">Wheel or w, s: zoom. Drag or a, d: move. Click: details, and the call or tasks of
a slice. Double click: the whole slice.<br>
Shift and drag: statistics of a range.<br>
<input id="find" placeholder="find by name, Enter: next"> <button id="all">show all</button></p>
<div id="timeline"><canvas id="canvas"></canvas><div id="room"></div></div>
<div id="details">Nothing selected.</div>
<div id="range-part" hidden><h2>Range <span id="range-words"></span>
<button id="range-zoom">zoom to it</button> <button id="range-end">close</button></h2>
<div class="scroll"><table id="range"></table></div></div>
</section>
<section id="slow-part" hidden><h2>Slow runs</h2><ul id="slow"></ul></section>
<section id="breakdown-part"><h2>Where the time went</h2><div id="breakdown"></div></section>
<section id="diff-part" hidden><h2>Compared with <span id="other"></span></h2>
<p id="sentence"></p><div class="scroll"><table id="diff"></table></div></section>
<section id="types-part"><h2>Operators by type</h2>
<div class="scroll"><table id="types"></table></div></section>
<section id="roofline-part" hidden><h2>Roofline</h2>
<p class="hint" id="roofline-words"></p><canvas id="roofline"></canvas></section>
<section id="operators-part"><h2>Operators</h2>
<input id="filter" placeholder="filter by name or type">
<div class="scroll"><table id="operators"></table></div></section>
<section id="calls-part"><h2>Calls</h2><div class="scroll"><table id="calls"></table></div>
</section>
<section id="stamps-part"><h2>Stamps of the program</h2>
<p class="hint">Ranges and marks that the program made itself (acl.prof, mstx).</p>
<div class="scroll"><table id="stamps"></table></div></section>
<section id="memory-part"><h2>Device memory</h2>
<p class="hint">What the program allocated, and what loaded models keep for weights and work.</p>
<canvas id="memory" class="chart"></canvas></section>
<section id="bandwidth-part"><h2>Copies</h2>
<p class="hint">Bytes of all copies, through streams and without.</p>
<canvas id="bandwidth" class="chart"></canvas></section>
<section id="stacks-part"><h2>Python functions</h2>
<div class="scroll"><table id="stacks"></table></div></section><div id="tip" hidden></div>
<script id="data" type="application/json">{data}</script><script>{js}</script></body></html>
"""


def _read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _columns(slices):
    """Typed arrays as one text: starts (f64), durations (f32), names (u32), links (u32)."""
    raw = b"".join(slices[c].tobytes() for c in ("t", "duration", "name", "link"))
    return base64.b64encode(raw).decode()


def _about(source, device):
    return source.devices.get(device, {}).get("description", "")


def roof(source, points):
    """The peaks of the device or of this machine; raised to an operator that was faster."""
    found = dict(operations.device_peaks(source) or peaks.peaks())
    fastest = max(point["rate"] for point in points)
    found["raised"] = fastest > found["flops"]
    found["flops"] = max(found["flops"], fastest)
    return found


def _operator_rows(source):
    rows = figures.operators(source)
    operations.add_shares(source, rows)
    return rows


def _lanes(source):
    return [{"group": lane.group, "title": lane.title, "count": len(lane.slices),
             "columns": _columns(lane.slices)} for lane in source.lanes if len(lane.slices)]


def _breakdown(source):
    return [part | {"about": _about(source, part["device"])} for part in figures.breakdown(source)]


FIGURES = {
    "lanes": _lanes, "operators": _operator_rows, "roofline": operations.roofline,
    "calls": figures.apis, "stamps": figures.stamps, "slow": figures.slow_runs,
    "breakdown": _breakdown, "memory": figures.memory, "bandwidth": figures.bandwidth,
    "rate": operations.rate, "stacks": figures.top_stacks}
PARTS = len(FIGURES) + 1  # steps of page_text: the figures, and the text


def page_data(source, other=None, step=lambda: None):
    """What page.js shows; `step` is called after each figure."""
    data = {"title": source.title, "wall": source.end - source.begin, "lost": source.lost,
            "names": source.names, "about": source.about}
    for name, figure in FIGURES.items():
        data[name] = figure(source)
        step()
    data["types"] = figures.types(data["operators"])
    data["peaks"] = roof(source, data["roofline"]) if data["roofline"] else None
    data["diff"] = figures.compare(source, other) if other else None
    return data


def page_text(source, other=None, step=lambda: None):
    """The page as one text."""
    text = TEMPLATE.format(title=html.escape(source.title), css=_read("page.css"),
                           js=_read("page.js"), data=json_in_html(page_data(source, other, step)))
    step()
    return text


def write_page(path, source, other=None, step=lambda: None):
    """Written whole or not at all."""
    write_whole(path, page_text(source, other, step))
