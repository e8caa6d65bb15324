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


def types(rows):
    """Totals of operators by their type, the longest first."""
    table = {}
    for row in rows:
        one = table.setdefault(row["type"], {"name": row["type"], "type": "", "operators": 0,
                                             "count": 0, "total": 0.0})
        one["operators"] += 1
        one["count"] += row["count"]
        one["total"] += row["total"]
    for one in table.values():
        one["mean"] = one["total"] / one["count"]
    return sorted(table.values(), key=lambda one: -one["total"])


def stamps(source):
    """The program's own ranges and marks (acl.prof, mstx) by name."""
    if source.work is None:
        return []
    grouped = {}
    for name, duration in zip(source.work.stamps["name"].tolist(),
                              source.work.stamps["duration"].tolist()):
        grouped.setdefault(source.work.name(name), []).append(duration)
    return sorted((_row(n, "stamp", d) for n, d in grouped.items()), key=lambda r: -r["total"])


SLOW = 3  # times p50: a p99 that is worth a sentence
LEAST_RUNS = 5
MOST_SENTENCES = 6


def slow_runs(source):
    """Sentences about operators of which a few runs took much longer than the others."""
    if source.work is None:
        return []
    ops, grouped = source.work.ops, {}
    for name, duration in zip(ops["name"].tolist(), ops["duration"].tolist()):
        grouped.setdefault(name, []).append(duration / 1000)
    found, firsts = [], []
    for name, durations in grouped.items():
        p50, p99 = np.percentile(durations, (50, 99))
        if len(durations) < LEAST_RUNS or p99 < SLOW * max(p50, 0.1):
            continue
        rest = max(durations[1:])
        lost = sum(durations) - len(durations) * p50
        if durations[0] > SLOW * p50 and rest < SLOW * p50:
            firsts.append((durations[0] - p50, source.work.name(name)))
        else:
            found.append((lost, _slow_sentence(source.work.name(name), durations, p50, p99)))
    sentences = [text for _, text in sorted(found, reverse=True)[:MOST_SENTENCES]]
    if firsts:
        most, name = max(firsts)
        sentences.insert(0, (
            f"The first run was slow: {len(firsts)} operator{'' if len(firsts) == 1 else 's'} took "
            f"longer in it than in all later runs, together by {sum(f[0] for f in firsts):.0f} us "
            f"({name} by {most:.0f} us). Memory is touched and code is prepared for the first "
            "time; run once before you measure."))
    return sentences


def _slow_sentence(name, durations, p50, p99):
    slow = [i for i, d in enumerate(durations, start=1) if d > SLOW * p50]
    shown = ", ".join(str(i) for i in slow[:8]) + (", ..." if len(slow) > 8 else "")
    every = ""
    steps = {b - a for a, b in zip(slow, slow[1:])}
    if len(slow) > 2 and len(steps) == 1:
        every = f": every {steps.pop()} runs"
    return (f"{name}: p99 is {p99:.1f} us, {p99 / max(p50, 0.1):.0f} times p50 ({p50:.1f} us); "
            f"{len(slow)} of {len(durations)} runs were slow (run {shown}){every}. Something else "
            "had the cores or the memory meanwhile: look at these runs in the timeline.")


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
    moved = grown(t - source.begin, rate, edges) - grown(t - source.begin + lasted, rate, edges)
    return (np.maximum(np.diff(moved), 0) / width * 1e9).tolist()


def grown(begins, rates, edges):
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
