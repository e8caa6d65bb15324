# SPDX-License-Identifier: Apache-2.0
"""What a profile holds, and how it is printed and written."""
import csv
import io

from anynpu.whole_file import write_whole
from hpe import _hpe

_NAMES = _hpe.profiler_event_names()
_NPC_EVENTS = _NAMES[:37]
_DMA_EVENTS = _NAMES[37:]

# Columns of the printed table and the events they add up.
_NPC_COLUMNS = [
    ("MCU-CYCLE", ["MCU_CYCLE"]),
    ("VME-CU", ["VME_CYCLE"]), ("VME INST", ["VME_INST"]),
    ("VME-VEC", ["VEC_CYCLE"]),
    ("MME", ["MME_CYCLE"]), ("MME INST", ["MME_INST"]),
    ("MTE", ["MTE_TOTAL_CYCLE"]),
    ("MTE INST", ["MTE_PLD_INST", "MTE_ICMOV_INST", "MTE_MOV_INST"]),
    ("MTE BYTE", ["MTE_PLD_BYTE", "MTE_L12LLB_BYTE", "MTE_LLB2L1_BYTE", "MTE_ICMOV_BYTE"]),
    ("SYNC", ["SYN_CYCLE"]), ("SYNC INST", ["SYN_INST"]),
]
_DMA_COLUMNS = ["C0_CYCLE1", "C0_BYTE", "C1_CYCLE1", "C1_BYTE"]


def _table(rows):
    """Lines of a table, the first column to the left, the others to the right."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [str(row[0]).ljust(widths[0])]
        cells += [str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:])]
        yield "  ".join(cells).rstrip()


def _csv(rows, path):
    """Writes rows to a file, or returns their text when there is no path."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    if path is None:
        return out.getvalue()
    write_whole(path, out.getvalue())
    return None


class KernelFunction:
    """One launch of a kernel.

    name: the kernel; npc: for each NPC used a dict from event name to count; dma: the same for the
    two system DMA units. Iterating gives the dicts of `npc`.
    """

    def __init__(self, name, npc, dma):
        self.name = name
        self.npc = [dict(zip(_NPC_EVENTS, events)) for events in npc]
        self.dma = dict(zip(_DMA_EVENTS, dma))

    def __iter__(self):
        return iter(self.npc)

    def __len__(self):
        return len(self.npc)

    def __getitem__(self, index):
        return self.npc[index]

    def __repr__(self):
        return f"<KernelFunction {self.name} on {len(self.npc)} NPCs>"

    def __str__(self):
        rows = [["NPC-CORE", *(title for title, _ in _NPC_COLUMNS)]]
        for index, events in enumerate(self.npc):
            rows.append([f"NPC_{index:02}",
                         *(sum(events[name] for name in names) for _, names in _NPC_COLUMNS)])
        lines = [f"{self.name} ({len(self.npc)} NPCs)", *_table(rows)]
        rows = [["SYSDMA-ID", "DDR->LLB CYCLE", "DDR->LLB BYTE", "LLB->DDR CYCLE", "LLB->DDR BYTE"]]
        for unit in (0, 1):
            rows.append([f"sysdma_{unit}",
                         *(self.dma[f"SYSDMA{unit}_DMA_{name}"] for name in _DMA_COLUMNS)])
        return "\n".join([*lines, *_table(rows)])

    def to_dict(self):
        return {"name": self.name, "npc": [dict(events) for events in self.npc],
                "dma": dict(self.dma)}

    def _csv_rows(self):
        for index, events in enumerate(self.npc):
            yield [self.name, f"NPC_{index:02}", *events.values(), *[""] * len(_DMA_EVENTS)]
        yield [self.name, "sysdma", *[""] * len(_NPC_EVENTS), *self.dma.values()]

    def to_csv(self, path=None):
        """Every event, a line for each NPC and one for the DMA units; the text without a path."""
        return _csv([["kernel", "unit", *_NAMES], *self._csv_rows()], path)


class ProfilingResult:
    """All launches of a profile, in the order they ended. Iterating gives KernelFunction."""

    def __init__(self, data):
        self.kernels = [KernelFunction(*kernel) for kernel in data]

    def __iter__(self):
        return iter(self.kernels)

    def __len__(self):
        return len(self.kernels)

    def __getitem__(self, index):
        return self.kernels[index]

    def __repr__(self):
        return f"<ProfilingResult of {len(self.kernels)} kernels>"

    def __str__(self):
        if not self.kernels:
            return "no kernels were collected"
        note = "cycles are modelled (docs/npc_cycles.md); instructions and bytes are exact"
        return "\n\n".join([*map(str, self.kernels), note])

    def to_dict(self):
        return {"kernels": [kernel.to_dict() for kernel in self.kernels]}

    def to_csv(self, path=None):
        """Every event of every launch; the text without a path."""
        rows = [["kernel", "unit", *_NAMES]]
        for kernel in self.kernels:
            rows.extend(kernel._csv_rows())
        return _csv(rows, path)
