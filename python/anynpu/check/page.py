# SPDX-License-Identifier: Apache-2.0
"""The report of `anynpu check` as one page: findings by kind, with the lines of the program."""
import linecache
import os
from html import escape

from . import findings

AROUND = 2  # lines of the source before and after the one that is meant

STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--mark:#f5c54255;--kind:#b3261e}
@media(prefers-color-scheme:dark){:root{--kind:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1rem;margin:0;font-weight:600}
.kind{color:var(--kind);font-family:ui-monospace,monospace}
article{border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;margin:1rem 0}
article p{margin:.3rem 0 .6rem;overflow-wrap:anywhere}
details{margin:.2rem 0}summary{cursor:pointer}summary b{font-weight:600}
pre{background:var(--soft);margin:.3rem 0;padding:.4rem .6rem;overflow:auto;border-radius:6px}
pre .at{background:var(--mark);display:block}ul{margin:.2rem 0;padding-left:1.4rem}
li{font-family:ui-monospace,monospace;font-size:.86em;overflow-wrap:anywhere}
nav a{margin-right:1rem;white-space:nowrap}table{border-collapse:collapse}
td,th{padding:.15rem .8rem .15rem 0;text-align:right}td:last-child,th:last-child{text-align:left}
"""


def source_of(frame):
    """The lines around a frame; "" when the file is not here."""
    if not frame.line or not os.path.isfile(frame.file):
        return ""
    lines = []
    for number in range(max(1, frame.line - AROUND), frame.line + AROUND + 1):
        text = linecache.getline(frame.file, number)
        if not text:
            continue
        line = escape(f"{number:>5}  {text.rstrip()}")
        lines.append(f'<span class="at">{line}</span>' if number == frame.line else line + "\n")
    return f"<pre>{''.join(lines)}</pre>"


def place(label, frames, is_open):
    first = next((frame for frame in frames if not frame.of), frames[0])
    rest = "".join(f"<li>{escape(text)}</li>" for text in findings.folded(frames))
    return (f"<details{' open' if is_open else ''}><summary><b>{escape(label)}</b> "
            f"{escape(first.text())}</summary>{source_of(first)}<ul>{rest}</ul></details>")


def article(number, finding):
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    places = "".join(place(label, frames, i == 0)
                     for i, (label, frames) in enumerate(finding.places.items()))
    return (f'<article id="f{number}"><h2>{number}. <span class="kind">{escape(finding.kind)}'
            f"</span>{times}</h2><p>{escape(finding.message)}</p>{places}</article>")


def leak_table(found):
    leaks = sorted((one for one in found if one.kind.startswith("leak-") and one.bytes),
                   key=lambda one: -one.bytes)
    if not leaks:
        return ""
    rows = "".join(
        f"<tr><td>{one.bytes:,}</td><td>{one.count:,}</td><td>"
        f"{escape(next(iter(one.places.values()))[0].text() if one.places else '?')}</td></tr>"
        for one in leaks)
    return ("<h2>Memory that was never freed</h2><table><tr><th>bytes</th><th>blocks</th>"
            f"<th>allocated at</th></tr>{rows}</table>")


def page_of(found, cut, hidden, command):
    kinds = {}
    for number, finding in enumerate(found, start=1):
        kinds.setdefault(finding.kind, number)
    links = "\n".join(f'<a href="#f{number}">{escape(kind)}</a>' for kind, number in kinds.items())
    total = f"{len(found)} finding{'' if len(found) == 1 else 's'}" if found else \
        "nothing was found"
    left = f", {hidden} left out by suppressions" if hidden else ""
    ended = "".join(f"<p>Process {number} ended without its exit handlers: leaks are not known.</p>"
                    for number in cut)
    body = "".join(article(number, finding) for number, finding in enumerate(found, start=1))
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>anynpu check: {escape(command[0])}</title><style>{STYLE}</style></head><body>"
            f"<h1>anynpu check: {total}{left}</h1><p><code>{escape(' '.join(command))}</code></p>"
            f"<nav>{links}</nav>{ended}{leak_table(found)}{body}</body></html>\n")
