# SPDX-License-Identifier: Apache-2.0
"""The tables of `stc-prof summary` and `detail`. Rows are what src/npc/host/recorder.h writes."""

# Event ids of stcpti.h.
MCU, VME, MME, VEC, SYN, MTE = range(6)
VME_INST, MME_INST, VEC_INST = 6, 7, 8
MTE_INST = (10, 11, 12)
PAL_VME_MME, PAL_MTE_MME, PAL_VME_MTE, PAL_ALL = 13, 14, 15, 16
ICMOV_BYTE, PLD_BYTE, L12LLB_BYTE, LLB2L1_BYTE = 24, 21, 22, 23
L1_CONFLICT, IM_CONFLICT = 29, 30
DMA_CONFLICT, DMA_C0_BYTE, DMA_C1_BYTE = 1, 4, 7  # of a unit's eight events


def table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join([str(row[0]).ljust(widths[0]),
                                *(str(c).rjust(w) for c, w in zip(row[1:], widths[1:]))]).rstrip()
                     for row in rows)


def busy(events):
    """Cycles in which any of the three units was busy: their sum less the overlaps."""
    both = events[PAL_VME_MME] + events[PAL_MTE_MME] + events[PAL_VME_MTE]
    return events[VME] + events[VEC] + events[MME] + events[MTE] - both + events[PAL_ALL]


def percent(part, events):
    whole = busy(events)
    return f"{100 * part / whole:.1f}%" if whole else "0.0%"


def speed(amount, row):
    """Bytes with the rate over the row's time."""
    ns = row["end_ns"] - row["start_ns"]
    return f"{amount} ({amount / ns:.3f} GB/s)" if amount and ns > 0 else str(amount)


# Sub-module: heads and cells of a line for each NPC. Caches are not modelled, so they print NA.
def _default(e, n):
    return [e[MCU], e[MTE], e[MME], e[VME], e[VEC], "NA", "NA"]


def _vme(e, n):
    return [e[VME], e[VME_INST], e[VEC], e[VEC_INST], percent(e[VME], e),
            percent(e[PAL_VME_MME], e), percent(e[PAL_VME_MTE], e), percent(e[PAL_ALL], e)]


def _mte(e, n):
    return [e[MTE], sum(e[i] for i in MTE_INST), percent(e[MTE], e), percent(e[PAL_MTE_MME], e),
            percent(e[PAL_VME_MTE], e), percent(e[PAL_ALL], e)]


def _mme(e, n):
    return [e[MME], e[MME_INST], percent(e[MME], e), percent(e[PAL_MTE_MME], e),
            percent(e[PAL_VME_MME], e), percent(e[PAL_ALL], e)]


def _pal(e, n):
    return [f"{e[i]} ({percent(e[i], e)})" for i in (PAL_ALL, PAL_MTE_MME, PAL_VME_MTE,
                                                     PAL_VME_MME)]


def _mcu(e, n):
    return [n, e[MCU], "NA", "NA"]


NPC_TABLES = {
    "DEFAULT": (["MCU-CYCLE", "MTE", "MME", "VME-CU", "VME-VEC", "DCACHE MISS", "ICACHE MISS"],
                _default),
    "VME": (["VME-CU", "VME-CU INST", "VME-VEC", "VME-VEC INST", "VME %", "VME-MME %", "VME-MTE %",
             "VME-MME-MTE %"], _vme),
    "MTE": (["MTE", "MTE INST", "MTE %", "MTE-MME %", "MTE-VME %", "MTE-MME-VME %"], _mte),
    "MME": (["MME", "MME INST", "MME %", "MME-MTE %", "MME-VME %", "MME-MTE-VME %"], _mme),
    "PAL": (["PAL(ALL)", "PAL(MTE/MME)", "PAL(MTE/VME)", "PAL(VME/MME)"], _pal),
    "MCU": (["MCU INST", "MCU CYCLE", "DCACHE MISS", "ICACHE MISS"], _mcu),
}
MODULES = [*NPC_TABLES, "MEMORY", "MEMORY-COL"]


def _dma(row, unit):
    return row["dma"][8 * unit:8 * unit + 8]


def _memory(row):
    dma = [["SYSDMA-ID", "C0 (DDR -> LLB)", "C1 (LLB -> DDR)"]]
    for unit in (0, 1):
        events = _dma(row, unit)
        dma.append([f"sysdma_{unit}", speed(events[DMA_C0_BYTE], row),
                    speed(events[DMA_C1_BYTE], row)])
    npc = [["NPC-CORE", "ICMOV", "PLD", "L1 -> LLB", "LLB -> L1"]]
    for core, e in enumerate(row["npc"]):
        npc.append([f"NPC_{core:02}", *(speed(e[i], row) for i in (ICMOV_BYTE, PLD_BYTE,
                                                                   L12LLB_BYTE, LLB2L1_BYTE))])
    return table(dma) + "\n" + table(npc)


def _collisions(row):
    dma = [["SYSDMA-ID", "LLB COLLISION"]]
    dma += [[f"sysdma_{unit}", _dma(row, unit)[DMA_CONFLICT]] for unit in (0, 1)]
    npc = [["NPC-CORE", "L1 COLLISION", "IM COLLISION"]]
    npc += [[f"NPC_{core:02}", e[L1_CONFLICT], e[IM_CONFLICT]]
            for core, e in enumerate(row["npc"])]
    return table(dma) + "\n" + table(npc)


def _npc_table(row, module):
    heads, cells = NPC_TABLES[module]
    rows = [["NPC-CORE", *heads]]
    for core, (events, instructions) in enumerate(zip(row["npc"], row["instructions"])):
        rows.append([f"NPC_{core:02}", *cells(events, instructions)])
    return table(rows)


def detail(rows, modules):
    parts = []
    for _, row in rows:
        if "kernel" not in row:
            continue
        us = (row["end_ns"] - row["start_ns"]) / 1e3
        parts.append(f"{row['kernel']}  (cluster {row['cluster']}, tid {row['tid']})  {us:.1f} us")
        for module in modules:
            if module == "MEMORY":
                parts.append(_memory(row))
            elif module == "MEMORY-COL":
                parts.append(_collisions(row))
            else:
                parts.append(_npc_table(row, module))
    return "\n".join(parts) if parts else "no kernels were recorded"


def summary(rows):
    kernels = [["Kernel-Function", "Duration(us)", "MCU", "MTE", "MME", "VME-CU", "VME-VEC", "TID"]]
    dma = [["Kernel-Function", "DMA-ID", "C0 (DDR -> LLB)", "C1 (LLB -> DDR)", "TID"]]
    copies = {}
    for _, row in rows:
        ns = row["end_ns"] - row["start_ns"]
        if "copy" in row:
            total = copies.setdefault(row["copy"], [0, 0, 0])
            for i, value in enumerate((1, row["bytes"], ns)):
                total[i] += value
            continue
        sums = [sum(e[i] for e in row["npc"]) for i in (MCU, MTE, MME, VME, VEC)]
        kernels.append([f"{row['kernel']} ({len(row['npc'])})", f"{ns / 1e3:.1f}", *sums,
                        row["tid"]])
        for unit in (0, 1):
            events = _dma(row, unit)
            if events[DMA_C0_BYTE] or events[DMA_C1_BYTE]:
                dma.append([row["kernel"], f"sysdma_{unit}", speed(events[DMA_C0_BYTE], row),
                            speed(events[DMA_C1_BYTE], row), row["tid"]])
    parts = ["kernels (cycles are modelled sums over the NPCs)", table(kernels)]
    if len(dma) > 1:
        parts += ["", "sysDMA (bytes)", table(dma)]
    names = {"h2d": "HOST_TO_DEVICE", "d2h": "DEVICE_TO_HOST", "d2d": "DEVICE_TO_DEVICE"}
    if copies:
        parts += ["", table([["Copies", "Calls", "Bytes", "GB/s"], *(
            [names[kind], calls, size, f"{size / ns:.3f}" if ns else "NA"]
            for kind, (calls, size, ns) in sorted(copies.items()))])]
    return "\n".join(parts)
