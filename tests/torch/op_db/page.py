# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501
"""Writes docs/torch_score.md from the results that score.py keeps."""
import collections
import json
import os
import re

from score import RUNS, agrees

# A pattern of a reason, and what it means. The first that fits.
CAUSES = (
    (r"not in libopapi|OPS function error: \w+, error code is 100024",
     "operator missing in AnyNPU"),
    (r"Only contiguous_format or preserve_format", "torch_npu does not support the memory format"),
    (r"dtype.*float64|The values for attribute 'dtype' do not match|type torch\.float32, expected torch\.float64",
     "type differs from the CPU: torch_npu has no float64 on the device"),
    (r"[Ss]parse|SparseCsr|layout", "sparse tensors"),
    (r"jiterator|Jiterator", "jiterator is for CUDA"),
    (r"Expected tensor_indices_or_sections to be on cpu", "needs a CPU tensor"),
    (r"cannot reshape tensor of 0 elements", "torch_npu reshapes empty tensors"),
    (r"aclnnDropoutDoMask", "torch_npu's masks of dropout are bits"),
    (r"not implemented for|Unsupported|not support|only support", "refused by torch_npu"),
    (r"the process ended|silent for", "the process ended"),
    (r"distributions differ", "distribution differs"),
    (r"Tensor-likes are not|Scalars are not|not close|not equal", "values differ"),
)


def cause_of(reason):
    for pattern, cause in CAUSES:
        if re.search(pattern, reason):
            return cause
    return "other errors"


def operator_of(reason):
    """The name of the missing operator in a reason."""
    found = re.search(r"(?:(acl\w+) or acl\w+GetWorkspaceSize)|(?:function error: (\w+),)", reason)
    return (found.group(1) or found.group(2)) if found else "?"


def shortened(reason, most=160):
    reason = reason.replace("|", "/").replace("`", "'")
    reason = re.sub(r"\[ERROR\].*?(?=E\d{6}: |$)", "", reason)
    reason = re.sub(r"\S*\.\./\S+\.cpp:\d+ ", "", reason)  # places in torch_npu's sources
    reason = re.sub(r"\[W\d{4} [^\]]*\] ", "", reason)  # the same in warnings
    return reason if len(reason) <= most else reason[:most - 3] + "..."


def write(folder, path, most=0):
    """`most`: how many samples of each entry the runs had; 0: all."""
    lines = ["# PyTorch's operator tests through torch_npu", "",
             "Written by `make torch-score`; do not edit. Each entry of PyTorch's own `op_db` runs on the",
             "CPU and, through the published torch_npu, on AnyNPU (`ANYNPU_SOC=Ascend910B2`), with every",
             "sample input that PyTorch has for it. An entry agrees when all of its samples do: equal types,",
             "shapes and values (float32 within 1e-4, float16 4e-3, bfloat16 3e-2, relative), those of the",
             "CPU or, rounded, those of the CPU in the next wider type. Where PyTorch leaves a result open",
             "(positions of equal elements, signs of singular vectors), what it means is compared. Random",
             "operators must have the CPU's distribution (Kolmogorov-Smirnov test over many draws);",
             "for `empty` and similar functions only type and shape are compared.", ""]
    if most:
        lines += [f"This page is from a run with the first {most} samples of each entry.", ""]
    runs = {}
    for name in RUNS:
        try:
            with open(os.path.join(folder, name + (".part" if most else "") + ".json"), encoding="utf-8") as file:
                runs[name] = json.load(file)
        except OSError:
            continue
    lines += ["| run | entries that agree | of | samples that agree | of |", "|---|---|---|---|---|"]
    for name, results in runs.items():
        samples = sum(r["passed"] + r["failed"] for r in results)
        lines.append(f"| {name} | {sum(map(agrees, results))} | {len(results)} | "
                     f"{sum(r['passed'] for r in results)} | {samples} |")
    lines += ["", "## Why the others do not", "", "| cause | " + " | ".join(runs) + " |",
              "|---|" + "---|" * len(runs)]
    counts = {name: collections.Counter(cause_of(r["reason"]) for r in results if not agrees(r))
              for name, results in runs.items()}
    causes = sorted({cause for counter in counts.values() for cause in counter},
                    key=lambda cause: -sum(counter[cause] for counter in counts.values()))
    for cause in causes:
        lines.append(f"| {cause} | " + " | ".join(str(counts[name][cause] or "") for name in runs) + " |")
    missing = collections.Counter()
    for results in runs.values():
        for record in results:
            if not agrees(record) and cause_of(record["reason"]) == CAUSES[0][1]:
                missing[operator_of(record["reason"])] += 1
    if missing:
        lines += ["", "Operators that are missing, with the entries that stop there: "
                  + ", ".join(f"{name} ({count})" for name, count in missing.most_common()) + "."]
    for name, results in runs.items():
        failures = [r for r in results if not agrees(r)]
        lines += ["", f"## {name}: entries that do not agree", "",
                  "| entry | samples right | of | the first reason |", "|---|---|---|---|"]
        lines += [f"| {r['name']} | {r['passed']} | {r['passed'] + r['failed']} | "
                  f"{shortened(r['reason'])} |" for r in failures]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
