# SPDX-License-Identifier: Apache-2.0
"""The CSV files of msprof: exact names and columns, times in microseconds with three decimals.

Each function gives (header, rows), rows as lists of texts; a table without rows is not written.
"""
from __future__ import annotations

import numpy as np

from anynpu.msprof import copy_rates, host
from anynpu.msprof.recording import INSTANT
from anynpu.msprof.timeline import us
from anynpu.msprof.work import (
    ENGINES,
    MEDIA,
    STAMP_KINDS,
    number_of,
    stamp_kind,
    stream_of,
    task_type,
)

NA = "N/A"
# What each group of AI Core metrics would add to op_summary. No AI Core here: N/A.
PMU = {
    "PipeUtilization": "vec_time(us) vec_ratio mac_time(us) mac_ratio scalar_time(us) scalar_ratio "
                       "mte1_time(us) mte1_ratio mte2_time(us) mte2_ratio mte3_time(us) mte3_ratio "
                       "icache_miss_rate memory_bound",
    "ArithmeticUtilization": "mac_fp16_ratio mac_int8_ratio vec_fp32_ratio vec_fp16_ratio "
                             "vec_int32_ratio vec_misc_ratio cube_fops vector_fops",
    "Memory": "ub_read_bw(GB/s) ub_write_bw(GB/s) l1_read_bw(GB/s) l1_write_bw(GB/s) "
              "main_mem_read_bw(GB/s) main_mem_write_bw(GB/s) l2_read_bw(GB/s) l2_write_bw(GB/s)",
    "MemoryL0": "l0a_read_bw(GB/s) l0a_write_bw(GB/s) l0b_read_bw(GB/s) l0b_write_bw(GB/s) "
                "l0c_read_bw(GB/s) l0c_write_bw(GB/s) l0c_read_bw_cube(GB/s) "
                "l0c_write_bw_cube(GB/s)",
    "ResourceConflictRatio": "vec_bankgroup_cflt_ratio vec_bank_cflt_ratio vec_resc_cflt_ratio",
    "MemoryUB": "ub_read_bw_vector(GB/s) ub_write_bw_vector(GB/s) ub_read_bw_scalar(GB/s) "
                "ub_write_bw_scalar(GB/s)",
    "L2Cache": "write_cache_hit write_cache_miss_allocate r0_read_cache_hit "
               "r0_read_cache_miss_allocate r1_read_cache_hit r1_read_cache_miss_allocate",
    "MemoryAccess": "read_main_memory_datas(KB) write_main_memory_datas(KB) GM_to_L1_datas(KB) "
                    "L0C_to_L1_datas(KB) L0C_to_GM_datas(KB) GM_to_UB_datas(KB) UB_to_GM_datas(KB)",
}


def pmu_columns(sample):
    group = PMU.get(sample.get("ai_core_metrics", ""))
    return ["aicore_time(us)", "total_cycles", *group.split(), "cube_utilization(%)"] if group \
        else []


def op_rows(work):
    """Operators by device and start: columns that several files share."""
    ops, owners = work.ops, work.op_owner
    tasks = work.tasks[owners]
    order = np.lexsort((ops["t"], tasks["d_first"]))
    ops, tasks = ops[order], tasks[order]
    device, start, duration = tasks["d_first"], ops["t"], ops["duration"]
    wait = np.zeros(len(ops), np.int64)
    if len(ops) > 1:
        wait[1:] = np.maximum(start[1:] - start[:-1] - duration[:-1], 0)
        wait[1:][device[1:] != device[:-1]] = 0
    return {"device": device.tolist(), "model": work.op_models[order].tolist(),
            "task": number_of(tasks).tolist(), "stream": stream_of(tasks).tolist(),
            "name": ops["name"].tolist(), "text": ops["arg"].tolist(), "start": start.tolist(),
            "duration": work.op_durations[order].tolist(), "wait": wait.tolist(),
            "correlation": ops["correlation"].tolist()}


OP_SUMMARY = ["Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type", "OP State",
              "Task Type", "Task Start Time(us)", "Task Duration(us)", "Task Wait Time(us)",
              "Block Num", "Mix Block Num", "HF32 Eligible", "Input Shapes", "Input Data Types",
              "Input Formats", "Output Shapes", "Output Data Types", "Output Formats", "Context ID"]


def op_summary(work):
    rows = op_rows(work)
    shapes = work.recording.sample.get("opShapes", "on") == "on"
    extra = pmu_columns(work.recording.sample)
    tail = [NA] * len(extra)
    sides = {}

    def side(number):
        if number not in sides:
            text = work.text(number)
            sides[number] = (text.type, [*text.inputs, *text.outputs] if shapes else [NA] * 6)
        return sides[number]

    out = []
    columns = zip(rows["device"], rows["model"], rows["task"], rows["stream"], rows["name"],
                  rows["text"], rows["start"], rows["duration"], rows["wait"])
    for device, model, task, stream, name, text, start, duration, wait in columns:
        kind, six = side(text)
        out.append([str(device), str(model), str(task), str(stream), work.name(name), kind, NA,
                    "AI_CORE", us(start) + "\t", us(duration), us(wait), "0", NA, NA, *six, NA,
                    *tail])
    return OP_SUMMARY + extra, out


def statistics(keys, durations):
    """key -> (count, total, min, mean, max, variance), in ns."""
    table = {}
    for key, duration in zip(keys, durations):
        table.setdefault(key, []).append(duration)
    return {k: (len(v), sum(v), min(v), sum(v) / len(v), max(v), float(np.var(v)))
            for k, v in table.items()}


def op_statistic(work):
    rows = op_rows(work)
    keys = ((d, work.text(t).type) for d, t in zip(rows["device"], rows["text"]))
    found = statistics(keys, rows["duration"])
    totals = {}
    for (device, _), value in found.items():
        totals[device] = totals.get(device, 0) + value[1]
    out = [[str(d), kind, "AI_CORE", str(n), us(total), us(least), us(mean), us(most),
            f"{100 * total / max(totals[d], 1):.3f}"]
           for (d, kind), (n, total, least, mean, most, _) in
           sorted(found.items(), key=lambda item: (item[0][0], -item[1][1]))]
    return ["Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)",
            "Avg Time(us)", "Max Time(us)", "Ratio(%)"], out


def task_time(work):
    rows = op_rows(work)
    out = [(d, start, [str(d), work.name(name), "AI_CORE", str(stream), str(task), us(duration),
                       us(start) + "\t", us(start + duration) + "\t"])
           for d, name, stream, task, start, duration in
           zip(rows["device"], rows["name"], rows["stream"], rows["task"], rows["start"],
               rows["duration"])]
    tasks = work.tasks
    engines = np.minimum(tasks["d_second"], len(ENGINES) - 1).tolist()
    columns = zip(tasks["d_first"].tolist(), work.kinds.tolist(), engines,
                  stream_of(tasks).tolist(), number_of(tasks).tolist(), tasks["t"].tolist(),
                  tasks["duration"].tolist())
    for device, kind, engine, stream, number, start, duration in columns:
        label = task_type(kind, ENGINES[engine])
        out.append((device, start, [str(device), NA, label, str(stream), str(number), us(duration),
                                    us(start) + "\t", us(start + duration) + "\t"]))
    out.sort(key=lambda row: row[:2])
    return ["Device_id", "kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)",
            "task_start(us)", "task_stop(us)"], [row[2] for row in out]


def api_statistic(work):
    out = []
    for level, events in (("acl", work.apis), ("model", work.tasks[work.is_model]),
                          ("runtime", np.concatenate([work.copies, work.memory,
                                                      work.callbacks]))):
        names = ["ModelExecute"] * len(events) if level == "model" else \
            [work.name(n) for n in events["name"].tolist()]
        found = statistics(names, events["duration"].tolist())
        for name, (n, total, least, mean, most, variance) in sorted(
                found.items(), key=lambda item: -item[1][1]):
            out.append(["host", level, name, us(total), str(n), us(mean), us(least), us(most),
                        f"{variance / 1e6:.3f}"])
    return ["Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)",
            "Variance"], out


def step_trace(work):
    out = [[str(device), str(number), NA, NA, us(start + duration) + "\t", us(duration), NA, NA, NA,
            str(model)] for device, model, number, start, duration, _ in work.iterations]
    return ["Device_id", "Iteration ID", "FP Start(us)", "BP End(us)", "Iteration End(us)",
            "Iteration Time(us)", "FP to BP Time(us)", "Iteration Refresh(us)",
            "Data Aug Bound(us)", "Model ID"], out


def msprof_tx(work):
    tasks = work.tasks
    marked = tasks[work.kinds == "mark_ex"]
    on_device = {a: (t, t + d) for a, t, d in zip(marked["arg"].tolist(), marked["t"].tolist(),
                                                  marked["duration"].tolist())}
    stamps = work.stamps
    pid = str(work.recording.pid)
    out = []
    columns = zip(stamp_kind(stamps).tolist(), work.stamp_categories, stamps["thread"].tolist(),
                  stamps["t"].tolist(), stamps["duration"].tolist(), stamps["name"].tolist(),
                  stamps["d_first"].tolist(), stamps["d_second"].tolist())
    for kind, category, thread, start, duration, name, domain, number in columns:
        device = [us(x) + "\t" for x in on_device[number]] if kind == 3 and number in on_device \
            else [NA, NA]
        out.append(["host", pid, str(thread), category, STAMP_KINDS[kind], "0", "0",
                    us(start) + "\t", us(start + duration) + "\t", "0", work.name(name),
                    work.name(domain) or "default", *device])
    return ["Device_id", "pid", "tid", "category", "event_type", "payload_type", "payload_value",
            "Start_time(us)", "End_time(us)", "message_type", "message", "domain",
            "Device Start_time(us)", "Device End_time(us)"], out


def _device_memory(work):
    memory = work.memory
    memory = memory[memory["d_first"] >= 0]
    if work.recording.devices:
        memory = memory[np.isin(memory["d_first"], work.recording.devices)]
    return memory


def memory_record(work):
    memory = _device_memory(work)
    out = [[str(d), "APP", us(t + dur) + "\t", f"{used / 1024:.3f}", f"{used / 1024:.3f}",
            f"NPU:{d}"]
           for d, t, dur, used in zip(memory["d_first"].tolist(), memory["t"].tolist(),
                                      memory["duration"].tolist(), memory["d_extra"].tolist())]
    return ["Device_id", "Component", "Timestamp(us)", "Total Allocated(KB)", "Total Reserved(KB)",
            "Device"], out


def allocations(work):
    """(device, name, bytes, from, to, in use after the allocation, in use after the release).

    `from` is None for blocks that were there before, `to` for those that stayed.
    """
    memory = _device_memory(work)
    api = work.api_of(memory)
    names = work.apis["name"].tolist()
    live, out = {}, []
    columns = zip((work.name(n) for n in memory["name"].tolist()), memory["d_first"].tolist(),
                  memory["d_arg"].tolist(), memory["arg"].tolist(), memory["t"].tolist(),
                  memory["duration"].tolist(), memory["d_extra"].tolist(), api.tolist())
    for what, device, address, size, start, duration, used, call in columns:
        at = start + duration
        if what == "allocate":
            caller = work.name(names[call]) if call >= 0 else NA
            live[device, address] = (device, caller, size, at, used)
        else:
            begun = live.pop((device, address), None)
            if begun:
                out.append((*begun[:4], at, begun[4], used))
            else:
                out.append((device, "", -size, None, at, None, used))
    out += [(*begun[:4], None, begun[4], None) for begun in live.values()]
    return sorted(out, key=lambda row: row[3] or row[4])


def operator_memory(work):
    def kb(value):
        return "" if value is None else f"{value / 1024:.3f}"

    out = []
    for device, name, size, begin, end, used, left in allocations(work):
        lasted = us(end - begin) if begin is not None and end is not None else ""
        out.append([str(device), name, kb(size), "" if begin is None else us(begin) + "\t", lasted,
                    kb(used), kb(used), kb(left), kb(left), f"NPU:{device}"])
    return ["Device_id", "Name", "Size(KB)", "Allocation Time(us)", "Duration(us)",
            "Allocation Total Allocated(KB)", "Allocation Total Reserved(KB)",
            "Release Total Allocated(KB)", "Release Total Reserved(KB)", "Device"], out


def static_op_mem(work):
    """How models that were loaded meanwhile share their work memory; the index is the step's."""
    tensors = work.recording.of("memory", INSTANT)
    device = str(work.device_ids[0] if work.device_ids else 0)
    graphs, out = {}, []
    for name, model, arg, size in zip(tensors["name"].tolist(), tensors["d_first"].tolist(),
                                      tensors["d_arg"].tolist(), tensors["arg"].tolist()):
        graph = graphs.setdefault(model, len(graphs))
        out.append([device, work.name(name), work.name(model), str(graph),
                    str(arg & 0xFFFFFFFF), str(arg >> 32), f"{size / 1024:.3f}"])
    for model, graph in graphs.items():
        mine = tensors[tensors["d_first"] == model]
        ends = mine["d_arg"] >> np.uint64(32)
        starts = mine["d_arg"] & np.uint64(0xFFFFFFFF)
        live = [int(mine["arg"][(starts <= step) & (ends >= step)].sum())
                for step in np.unique(starts)]
        out.append([device, "TOTAL", work.name(model), str(graph), "0", "4294967295",
                    f"{max(live) / 1024:.3f}"])
    return ["Device_id", "Op Name", "Model Name", "Graph ID", "Node Index Start", "Node Index End",
            "Size(KB)"], out


def fusion_op(work):
    """Operators of models that were loaded meanwhile and stand for several of the source model."""
    found = work.recording.of("op", INSTANT)
    out = []
    for name, number, model in zip(found["name"].tolist(), found["arg"].tolist(),
                                   found["d_first"].tolist()):
        op, *sizes, sources = (work.name(name).split("\t") + [""] * 6)[:6]
        known = [int(s) if s.isdigit() else None for s in sizes]
        total = None if None in known else sum(known)
        out.append(["host", work.name(model), str(number), op, sources,
                    *(NA if s is None else f"{s / 1024:.3f}" for s in [*known, total])])
    return ["Device_id", "Model Name", "Model ID", "Fusion Op", "Original Ops", "Memory Input(KB)",
            "Memory Output(KB)", "Memory Weight(KB)", "Memory Workspace(KB)",
            "Memory Total(KB)"], out


def npu_mem(work):
    out = []
    for sample in work.recording.samples:
        if sample["kind"] == "npu_mem":
            kb = f"{sample['bytes'] / 1024:.3f}"
            out += [[str(sample["device"]), event, kb, "0.000", kb, us(sample["t"]) + "\t"]
                    for event in ("app", "device")]
    return ["Device_id", "event", "ddr(KB)", "hbm(KB)", "memory(KB)", "timestamp(us)"], out


def npu_module_mem(work):
    out = [[str(s["device"]), "APP", us(s["t"]) + "\t", f"{s['bytes'] / 1024:.3f}",
            f"NPU:{s['device']}"] for s in work.recording.samples if s["kind"] == "npu_mem"]
    return ["Device_id", "Component", "Timestamp(us)", "Total Reserved(KB)", "Device"], out


def dvpp(work):
    tasks = work.tasks
    wall = max(work.recording.end_ns - work.recording.begin_ns, 1)
    out = []
    for device in work.device_ids:
        for number, engine in enumerate(ENGINES):
            if engine not in MEDIA:
                continue
            mine = tasks[(tasks["d_first"] == device) & (tasks["d_second"] == number)]
            if len(mine):
                total = int(mine["duration"].sum())
                out.append([str(device), "0", MEDIA[engine], "0", us(total), str(len(mine)),
                            f"{100 * total / wall:.3f}"])
    return ["Device_id", "Dvpp Id", "Engine Type", "Engine ID", "All Time(us)", "All Frame",
            "All Utilization(%)"], out


def cpu_usage(work):
    shares = {}
    for _, cpu, share in host.cpu_shares(work.recording):
        shares.setdefault("Avg" if cpu == "cpu" else cpu[3:], []).append(share)
    keys = ("User", "Sys", "IoWait", "Irq", "Soft", "Idle")
    out = [["host", cpu, *(f"{sum(s[k] for s in many) / len(many):.3f}" for k in keys)]
           for cpu, many in shares.items()]
    return ["Device_id", "Cpu Type", *(f"{k}(%)" for k in keys)], out


def host_cpu_usage(work):
    idle = [s["Idle"] for _, cpu, s in host.cpu_shares(work.recording) if cpu == "cpu"]
    if not idle:
        return [], []
    total = work.recording.cpus
    occupied = total * (100 - min(idle)) / 100
    return ["Device_id", "Total Cpu Numbers", "Occupied Cpu Numbers", "Recommend Cpu Numbers"], \
        [["host", str(total), f"{occupied:.3f}", f"{occupied / 0.8:.3f}"]]


def host_mem_usage(work):
    found = [m for _, m in host.memory(work.recording) if "MemTotal" in m]
    if not found:
        return [], []
    peak = max(m["MemTotal"] - m.get("MemAvailable", 0) for m in found)
    return ["Device_id", "Total Memory(KB)", "Peak Used Memory(KB)", "Recommend Memory(KB)"], \
        [["host", str(found[0]["MemTotal"]), str(peak), f"{peak / 0.8:.3f}"]]


def host_disk_usage(work):
    rates = [r for _, r in host.disk_rates(work.recording)]
    if not rates:
        return [], []
    read, write = (max(r[i] for r in rates) for i in (0, 1))
    return ["Device_id", "Peak Disk Read(KB/s)", "Recommend Disk Read(KB/s)",
            "Peak Disk Write(KB/s)", "Recommend Disk Write(KB/s)"], \
        [["host", f"{read:.3f}", f"{read / 0.8:.3f}", f"{write:.3f}", f"{write / 0.8:.3f}"]]


def host_network_usage(work):
    rates = [sum(r) for _, r in host.network_rates(work.recording)]
    if not rates:
        return [], []
    return ["Device_id", "Netcard Speed(KB/s)", "Peak Used Speed(KB/s)", "Recommend Speed(KB/s)"], \
        [["host", NA, f"{max(rates):.3f}", f"{max(rates) / 0.8:.3f}"]]


def sys_mem(work):
    keys = {"MemTotal": "Memory Total(kB)", "MemFree": "Memory Free(kB)", "Buffers": "Buffers(kB)",
            "Cached": "Cached(kB)", "Shmem": "Share Memory(kB)", "CommitLimit": "Commit Limit(kB)",
            "Committed_AS": "Committed AS(kB)", "HugePages_Total": "Huge Pages Total(pages)",
            "HugePages_Free": "Huge Pages Free(pages)"}
    out = [["host", *(str(m.get(k, NA)) for k in keys)] for _, m in host.memory(work.recording)]
    return ["Device_id", *keys.values()], out[-1:]


def process_mem(work):
    last = {}
    for _, pid, name, _, pages in host.processes(work.recording):
        last[pid] = ["host", str(pid), name, *pages]
    return ["Device_id", "PID", "Name", "Size(pages)", "Resident(pages)", "Shared(pages)"], \
        [last[pid] for pid in sorted(last)]


def process_cpu_usage(work):
    """Of all CPUs together, from a process's first sample to its last. The system counts in ticks,
    so two samples close together may seem to hold more than there was."""
    first, last, names = {}, {}, {}
    for t, pid, name, seconds, _ in host.processes(work.recording):
        first.setdefault(pid, (t, seconds))
        last[pid], names[pid] = (t, seconds), name
    out = []
    for pid in sorted(last):
        wall = (last[pid][0] - first[pid][0]) / 1e9
        if wall > 0:
            share = 100 * (last[pid][1] - first[pid][1]) / wall / work.recording.cpus
            out.append(["host", str(pid), names[pid], f"{min(share, 100):.3f}"])
    return ["Device_id", "PID", "Name", "CPU(%)"], out


def os_runtime_statistic(work):
    calls = work.os_calls
    keys = zip(calls["thread"].tolist(), (work.name(n) for n in calls["name"].tolist()))
    found = statistics(keys, calls["duration"].tolist())
    total = max(sum(value[1] for value in found.values()), 1)
    out = [["host", str(work.recording.pid), str(thread), name, f"{100 * spent / total:.3f}",
            us(spent), str(count), us(mean), us(most), us(least)]
           for (thread, name), (count, spent, least, mean, most, _) in
           sorted(found.items(), key=lambda item: -item[1][1])]
    return ["Device_id", "Process ID", "Thread ID", "Name", "Time(%)", "Time(us)", "Count",
            "Avg(us)", "Max(us)", "Min(us)"], out


def hbm(work):
    """Where the memory of the device was asked for."""
    header, rows = copy_rates.hbm(work)
    return header, rows if "sys_hardware_mem_freq" in work.recording.sample else []


def pcie(work):
    """Where links between chips were asked for."""
    header, rows = copy_rates.pcie(work)
    return header, rows if "sys_interconnection_freq" in work.recording.sample else []


TABLES = {f.__name__: f for f in (
    op_summary, op_statistic, task_time, api_statistic, step_trace, msprof_tx, memory_record,
    operator_memory, static_op_mem, fusion_op, npu_mem, npu_module_mem, dvpp, cpu_usage,
    host_cpu_usage, host_mem_usage, host_disk_usage, host_network_usage, sys_mem, process_mem,
    process_cpu_usage, os_runtime_statistic, hbm, pcie)}
