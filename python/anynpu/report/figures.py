# SPDX-License-Identifier: Apache-2.0
"""The numbers of the page: operators, where the time went, memory, copies, stacks, comparison."""
from __future__ import annotations

import numpy as np

from anynpu.msprof import tables
from anynpu.msprof.timeline import join
from anynpu.msprof.work import ENGINES

COPIES = [ENGINES.index(e) for e in ("h2d", "d2h", "d2d")]
COMPUTE = [ENGINES.index(e) for e in ("compute", "vpc", "jpeg", "vdec", "venc", "npc")]
BUCKETS = 240


def _row(name, kind, durations):
    durations = np.sort(np.asarray(durations, float)) / 1000
    p50, p90, p99 = np.percentile(durations, (50, 90, 99))
    return {"name": name, "type": kind, "count": len(durations), "total": float(durations.sum()),
            "mean": float(durations.mean()), "p50": float(p50), "p90": float(p90),
            "p99": float(p99), "max": float(durations[-1])}


def operators(source):
    """A row per operator, or per slice name of a bare trace; microseconds."""
    if source.work is not None:
        rows = tables.op_rows(source.work)
        keys = [(source.work.name(n), source.work.text(t).type)
                for n, t in zip(rows["name"], rows["text"])]
        durations = rows["duration"]
    else:
        keys = [(source.names[n], lane.group) for lane in source.lanes
                for n in lane.slices["name"].tolist()]
        durations = [d for lane in source.lanes for d in lane.slices["duration"].tolist()]
    grouped = {}
    for key, duration in zip(keys, durations):
        grouped.setdefault(key, []).append(duration)
    found = [_row(name, kind, d) for (name, kind), d in grouped.items()]
    return sorted(found, key=lambda r: -r["total"])


def apis(source):
    grouped = {}
    if source.work is not None:
        for name, duration in zip(source.work.apis["name"].tolist(),
                                  source.work.apis["duration"].tolist()):
            grouped.setdefault(source.work.name(name), []).append(duration)
    return sorted((_row(n, "call", d) for n, d in grouped.items()), key=lambda r: -r["total"])


def _length(spans):
    return int((spans[:, 1] - spans[:, 0]).sum()) if len(spans) else 0


def _without(spans, others):
    """Length of spans that no span of others covers."""
    both = join(np.concatenate([spans[:, 0], others[:, 0]]),
                np.concatenate([spans[:, 1], others[:, 1]]))
    return _length(both) - _length(others)


def _idle_causes(source, busy):
    """What the host's calls did while the device was idle: (name, ns), longest first."""
    gaps = np.stack([np.concatenate([[source.begin], busy[:, 1]]),
                     np.concatenate([busy[:, 0], [source.end]])], axis=1)
    gaps = gaps[gaps[:, 1] > gaps[:, 0]]
    ends = np.cumsum(gaps[:, 1] - gaps[:, 0])

    def idle_before(t):
        at = np.searchsorted(gaps[:, 0], t, side="right") - 1
        inside = np.clip(t - gaps[np.maximum(at, 0), 0], 0,
                         (gaps[:, 1] - gaps[:, 0])[np.maximum(at, 0)])
        before = np.where(at > 0, ends[np.maximum(at, 1) - 1], 0)
        return np.where(at >= 0, before + inside, 0)

    apis = source.work.apis
    if not len(gaps) or not len(apis):
        return []
    overlap = idle_before(apis["t"] + apis["duration"]) - idle_before(apis["t"])
    totals = {}
    for name, length in zip(apis["name"].tolist(), overlap.tolist()):
        totals[name] = totals.get(name, 0) + length
    # Calls lie in each other and beside each other in threads: together they count once.
    covered = join(apis["t"], apis["t"] + apis["duration"])
    found = [(source.work.name(n), v) for n, v in totals.items() if v > 0]
    outside = int(ends[-1] - (idle_before(covered[:, 1]) - idle_before(covered[:, 0])).sum())
    if outside > 0:
        found.append(("outside of calls", outside))
    return sorted(found, key=lambda item: -item[1])[:8]


def breakdown(source):
    """Per device: computing, copying, waiting, idle, in ns, and what the host did meanwhile."""
    if source.work is None:
        return []
    out = []
    tasks = source.work.tasks
    ends = tasks["t"] + tasks["duration"]
    wall = source.end - source.begin
    for device in source.work.device_ids:
        mine = tasks["d_first"] == device

        def spans(chosen, mine=mine):
            picked = mine & chosen
            return join(tasks["t"][picked], ends[picked])

        computing = spans(np.isin(tasks["d_second"], COMPUTE))
        moving = spans(np.isin(tasks["d_second"], COPIES))
        busy = spans(np.isin(tasks["d_second"], COMPUTE + COPIES))
        every = spans(np.ones(len(tasks), bool))
        parts = {"computing": _length(computing), "copying": _without(moving, computing),
                 "waiting": _without(every, busy)}
        parts["idle"] = max(wall - sum(parts.values()), 0)
        out.append({"device": device, "wall": wall, "parts": parts,
                    "causes": _idle_causes(source, every)})
    return out


def memory(source):
    """device -> [(ns from the start, bytes in use)], thinned."""
    if source.work is None:
        return {}
    events = source.work.memory
    out = {}
    for device in sorted({int(d) for d in events["d_first"] if d >= 0}):
        mine = events[events["d_first"] == device]
        mine = mine[_peaks(mine["d_extra"], 2000)]
        out[device] = [(int(t) - source.begin, int(used)) for t, used in
                       zip(mine["t"] + mine["duration"], mine["d_extra"])]
    return out


def _peaks(values, most):
    """Indices of about `most` values: the largest of each of as many neighbours, and the last."""
    step = -(-len(values) // most) if len(values) else 1
    return [begin + int(np.argmax(values[begin:begin + step]))
            for begin in range(0, len(values) - 1, step)] + [len(values) - 1] * bool(len(values))


def bandwidth(source):
    """Bytes per second of copies in each of BUCKETS spans; streams and direct copies together, the
    bytes of each evenly over its time."""
    if source.work is None:
        return []
    tasks = source.work.tasks
    queued = tasks[np.isin(tasks["d_second"], COPIES)]
    direct = source.work.copies
    t = np.concatenate([queued["t"], direct["t"]]).astype(np.int64)
    if not len(t):
        return []
    width = max((source.end - source.begin) / BUCKETS, 1)
    lasted = np.maximum(np.concatenate([queued["duration"], direct["duration"]]), 1)
    rate = np.concatenate([queued["arg"], direct["arg"]]) / lasted
    edges = np.arange(BUCKETS + 1) * width
    moved = _grown(t - source.begin, rate, edges) - _grown(t - source.begin + lasted, rate, edges)
    return (np.maximum(np.diff(moved), 0) / width * 1e9).tolist()


def _grown(begins, rates, edges):
    """What has grown up to each edge, where each begin starts something that grows at its rate."""
    order = np.argsort(begins)
    begins, rates = begins[order], rates[order]
    sums = np.concatenate([[0], np.cumsum(rates)])
    areas = np.concatenate([[0], np.cumsum(rates * begins)])
    at = np.searchsorted(begins, edges)
    return edges * sums[at] - areas[at]


def top_stacks(source):
    """Python functions by their own time: (name, own ns, total ns, calls)."""
    table = {}
    by_thread = {}
    for thread, _, begin, duration, name in source.stacks:
        by_thread.setdefault(thread, []).append((begin, -duration, duration, name))
    for calls in by_thread.values():
        open_calls = []  # [end, name]
        for begin, _, duration, name in sorted(calls):
            while open_calls and open_calls[-1][0] <= begin:
                open_calls.pop()
            own = table.setdefault(name, [0, 0, 0])
            own[0] += duration
            own[1] += duration
            own[2] += 1
            if open_calls:
                table[open_calls[-1][1]][0] -= duration
            open_calls.append((begin + duration, name))
    found = [(name, own, total, count) for name, (own, total, count) in table.items()]
    return sorted(found, key=lambda r: -r[1])[:50]


def compare(mine, other):
    """Operators of two profiles by their mean time: what got slower comes first."""
    before = {(r["name"], r["type"]): r for r in operators(other)}
    after = {(r["name"], r["type"]): r for r in operators(mine)}
    rows = []
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        rows.append({"name": key[0], "type": key[1], "before": old["mean"] if old else None,
                     "after": new["mean"] if new else None,
                     "change": new["mean"] - old["mean"] if old and new else None,
                     "weight": (new["mean"] - old["mean"]) * new["count"] if old and new else 0,
                     "ratio": new["mean"] / old["mean"] if old and new and old["mean"] else None})
    rows.sort(key=lambda r: -r["weight"])
    return {"title": other.title, "rows": rows, "sentence": sentence(rows, mine, other)}


def _per_run(source):
    rows = operators(source)
    runs = max((r["count"] for r in rows), default=0)
    if source.work is not None and len(source.work.iterations):
        runs = len(source.work.iterations)
    return sum(r["total"] for r in rows) / runs if runs else 0


def sentence(rows, mine, other):
    before, after = _per_run(other), _per_run(mine)
    if not before or not after:
        return "One of the two profiles has no operators to compare."
    change = 100 * (after / before - 1)
    how = "slower" if change > 0 else "faster"
    text = (f"Operators take {after:.1f} us an execution, {before:.1f} us before: "
            f"{abs(change):.1f} % {how}.")
    worst = [r for r in rows if r["change"] and r["weight"] > 0][:1]
    if worst:
        w = worst[0]
        text += (f" The largest loss is {w['name']} ({w['type']}): {w['before']:.1f} us to "
                 f"{w['after']:.1f} us, {w['ratio']:.2f} times.")
    return text
