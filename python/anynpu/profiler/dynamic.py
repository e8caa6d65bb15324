# SPDX-License-Identifier: Apache-2.0
"""DynamicProfilerMonitor: profiles the steps that a file names while the program runs."""
import json
import logging
import os
import time

from anynpu.profiler import handler
from anynpu.profiler.enums import AicoreMetrics, ExportType, ProfilerActivity, ProfilerLevel
from anynpu.profiler.session import profile, rank
from anynpu.profiler.settings import _ExperimentalConfig

log = logging.getLogger("anynpu.profiler")
FILE = "profiler_config.json"
DEFAULTS = {
    "start_step": -1, "stop_step": -1, "aic_metrics": "AiCoreNone", "profiler_level": "Level0",
    "analyse_mode": -1, "activities": ["CPU", "NPU"], "export_type": ["text"],
    "profile_memory": False, "mstx": False, "parallel_strategy": False, "with_stack": False,
    "data_simplification": True, "l2_cache": False, "analyse": False, "record_shapes": False,
    "prof_path": "./", "mstx_domain_include": [], "mstx_domain_exclude": [], "host_sys": [],
    "sys_io": False, "sys_interconnection": False,
}
LEVELS = {-1: "LevelNone", 0: "Level0", 1: "Level1", 2: "Level2"}
ACTIVITIES = {0: ["CPU", "NPU"], 1: ["CPU"], 2: ["NPU"]}
EXPORTS = {0: ["text"], 1: ["db"], 2: ["text", "db"]}


class DynamicProfilerMonitor:
    def __init__(self, cfg_path=None, output_path="./dyn_profile_data", poll_interval=2, **kwargs):
        if isinstance(poll_interval, bool) or not isinstance(poll_interval, (int, float)) \
                or poll_interval < 0:
            log.warning("poll_interval is %r, expected seconds; 2 is taken", poll_interval)
            poll_interval = 2
        self._path = os.path.join(cfg_path or ".", FILE)
        self._output, self._interval = output_path, poll_interval
        self._step = 0
        self._read_at = self._stamp = None
        self._config = dict(DEFAULTS)
        self._profile = None
        os.makedirs(cfg_path or ".", exist_ok=True)
        if not os.path.exists(self._path):
            with open(self._path, "w", encoding="utf-8") as file:
                json.dump(DEFAULTS, file, indent=4)

    def _poll(self):
        now = time.monotonic()
        if self._read_at is not None and now - self._read_at < self._interval:
            return
        self._read_at = now
        try:
            stamp = os.stat(self._path).st_mtime_ns
            if stamp != self._stamp:
                self._stamp = stamp
                with open(self._path, encoding="utf-8") as file:
                    self._config = {**DEFAULTS, **json.load(file)}
        except (OSError, ValueError, TypeError) as error:
            log.warning("%s cannot be read: %s; what it said before counts", self._path, error)

    def step(self):
        """Call at the start of every step."""
        self._poll()
        self._step += 1
        if self._profile and self._step > self._config["stop_step"]:
            self._stop()
        if not self._profile and self._step == self._config["start_step"]:
            self._start()

    def _start(self):
        config = self._config
        level, activities = config["profiler_level"], config["activities"]
        exports = config["export_type"]
        experimental = _ExperimentalConfig(
            profiler_level=ProfilerLevel[LEVELS.get(level, level)],
            aic_metrics=AicoreMetrics[config["aic_metrics"]], l2_cache=config["l2_cache"],
            mstx=config["mstx"], data_simplification=config["data_simplification"],
            export_type=[ExportType(e) for e in EXPORTS.get(exports, exports)
                         ] if not isinstance(exports, list) else [ExportType(e) for e in exports],
            mstx_domain_include=config["mstx_domain_include"],
            mstx_domain_exclude=config["mstx_domain_exclude"], host_sys=config["host_sys"])
        names = activities if isinstance(activities, list) else ACTIVITIES[activities]
        folder = f"rank{rank()}_start{config['start_step']}_stop{config['stop_step']}"
        handler.tensorboard_trace_handler(os.path.join(self._output, folder), analyse_flag=False)
        self._profile = profile(activities=[ProfilerActivity(a) for a in names],
                                with_stack=config["with_stack"],
                                profile_memory=config["profile_memory"],
                                record_shapes=config["record_shapes"],
                                experimental_config=experimental)

    def _stop(self):
        running, self._profile = self._profile, None
        running.stop()
        if self._config["analyse"] or self._config["analyse_mode"] in (0, 1):
            from anynpu.profiler.analysis import analyse
            analyse(handler.place())
