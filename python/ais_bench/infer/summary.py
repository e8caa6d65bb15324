# SPDX-License-Identifier: Apache-2.0
"""The summary of a run: statistics printed and written as JSON. `summary` is the one that the
command uses; scripts fill its lists and call report()."""
import json
import os
import sys

import numpy as np

from aclruntime.output_files import whole_file
from ais_bench.infer.logger import logger

_KEYS = ("min", "max", "mean", "median", "percentile(99%)")


def statistics(values):
    """min, max, mean, median, 99 % of a list; zeros for an empty one."""
    values = [float(value) for value in values]
    if not values:
        return {**dict.fromkeys(_KEYS, 0.0), "count": 0}
    return {"min": min(values), "max": max(values), "mean": float(np.mean(values)),
            "median": float(np.median(values)),
            "percentile(99%)": float(np.percentile(values, 99)), "count": len(values)}


def union_length(pairs):
    """Length of the union of intervals."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(tuple(pair) for pair in pairs):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


class Summary:
    def __init__(self):
        self.reset()
        self.infodict = {"filesinfo": {}}

    def reset(self):
        self.h2d_latency_list = []
        self.d2h_latency_list = []
        self.npu_compute_time_list = []
        self.npu_compute_time_interval_list = []
        self._batchsizes = []

    # older scripts use this name
    @property
    def exec_time_list(self):
        return self.npu_compute_time_list

    @exec_time_list.setter
    def exec_time_list(self, values):
        self.npu_compute_time_list = values

    def add_batchsize(self, batchsize):
        self._batchsizes.append(batchsize)

    def add_sample_id_infiles(self, sample_id, infiles):
        self._sample(sample_id)["infiles"].extend(infiles)

    def append_sample_id_outfile(self, sample_id, outfile):
        self._sample(sample_id)["outfiles"].append(outfile)

    def _sample(self, sample_id):
        return self.infodict["filesinfo"].setdefault(str(sample_id),
                                                     {"infiles": [], "outfiles": []})

    def _groups(self, multi_threads):
        groups = {"NPU_compute_time": statistics(self.npu_compute_time_list),
                  "H2D_latency": statistics(self.h2d_latency_list),
                  "D2H_latency": statistics(self.d2h_latency_list)}
        if multi_threads:  # executions overlap: the time that any of them ran
            count = len(self.npu_compute_time_interval_list)
            taken = union_length(self.npu_compute_time_interval_list)
            groups["NPU_compute_time"] = {"mean": taken / count if count else 0.0, "count": count}
            for name in ("H2D_latency", "D2H_latency"):
                groups[name] = {key: groups[name][key] for key in ("mean", "count")}
        return groups

    def report(self, batchsize, output_prefix=None, display_all_summary=False,
               multi_threads=False):
        """Prints the summary; writes <output_prefix>_summary.json when that is given."""
        if self._batchsizes:
            batchsize = sum(self._batchsizes) / len(self._batchsizes)
        groups = self._groups(multi_threads)
        mean = groups["NPU_compute_time"]["mean"]
        throughput = 1000 * batchsize / mean if mean else 0
        self.infodict.update(groups, args=sys.argv, throughput=throughput, pid=os.getpid())
        self.infodict["npu_compute_time_list"] = [list(pair) for pair in
                                                  self.npu_compute_time_interval_list] \
            if multi_threads else [float(time) for time in self.npu_compute_time_list]

        def line(name):
            values = groups[name]
            logger.info("%s (ms): %s", name, ", ".join(f"{key} = {values[key]}" for key in _KEYS
                                                       if key in values))

        logger.info("-----------------Performance Summary------------------")
        if display_all_summary:
            line("H2D_latency")
        line("NPU_compute_time")
        if display_all_summary:
            line("D2H_latency")
        logger.info("throughput 1000*batchsize.mean(%s)/NPU_compute_time.mean(%s): %s", batchsize,
                    mean, throughput)
        logger.info("------------------------------------------------------")
        if output_prefix is not None:
            with whole_file(f"{output_prefix}_summary.json") as file:
                file.write(json.dumps(self.infodict).encode())


summary = Summary()
