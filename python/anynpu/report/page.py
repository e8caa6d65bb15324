# SPDX-License-Identifier: Apache-2.0
"""The page: one HTML file with its style, its script and its data inside."""
from __future__ import annotations

import base64
import html
import json
import os

from anynpu.report import figures
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
<input id="find" placeholder="find by name, Enter: next"> <button id="all">show all</button></p>
<div id="timeline"><canvas id="canvas"></canvas><div id="room"></div></div>
<div id="details">Nothing selected.</div>
</section>
<section id="breakdown-part"><h2>Where the time went</h2><div id="breakdown"></div></section>
<section id="diff-part" hidden><h2>Compared with <span id="other"></span></h2>
<p id="sentence"></p><div class="scroll"><table id="diff"></table></div></section>
<section id="operators-part"><h2>Operators</h2>
<input id="filter" placeholder="filter by name or type">
<div class="scroll"><table id="operators"></table></div></section>
<section id="calls-part"><h2>Calls</h2><div class="scroll"><table id="calls"></table></div>
</section>
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


def page_data(source, other=None):
    return {
        "title": source.title, "wall": source.end - source.begin, "lost": source.lost,
        "names": source.names, "about": source.about,
        "lanes": [{"group": lane.group, "title": lane.title, "count": len(lane.slices),
                   "columns": _columns(lane.slices)} for lane in source.lanes if len(lane.slices)],
        "operators": figures.operators(source), "calls": figures.apis(source),
        "breakdown": figures.breakdown(source), "memory": figures.memory(source),
        "bandwidth": figures.bandwidth(source), "stacks": figures.top_stacks(source),
        "diff": figures.compare(source, other) if other else None}


def json_in_html(value):
    """JSON for a script element. No character is left that a browser reads as markup: "</" would
    end the element, and after "<!--<script" nothing would."""
    text = json.dumps(value)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def write_page(path, source, other=None):
    """Written whole or not at all."""
    data = json_in_html(page_data(source, other))
    text = TEMPLATE.format(title=html.escape(source.title), css=_read("page.css"),
                           js=_read("page.js"), data=data)
    write_whole(path, text)
