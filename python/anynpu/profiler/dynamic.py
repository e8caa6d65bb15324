# SPDX-License-Identifier: Apache-2.0
"""DynamicProfilerMonitor: profiles the steps that a file names while the program runs. Problems
with the file or the folder are reported, and the program goes on."""
import json
import logging
import os
import time

from anynpu.profiler import handler
from anynpu.profiler.analysis import analyse_or_tell
from anynpu.profiler.options import from_json, grouped
from anynpu.profiler.session import profile, rank
from anynpu.whole_file import write_whole

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
# What concerns the monitor and not the profile.
OWN = {"start_step", "stop_step", "analyse", "analyse_mode", "prof_path"}


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
        self._profile, self._last = None, -1
        try:
            os.makedirs(cfg_path or ".", exist_ok=True)
            if not os.path.exists(self._path):
                write_whole(self._path, json.dumps(DEFAULTS, indent=4))
        except OSError as error:
            log.error("%s cannot be made: %s", self._path, error)

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
        if self._profile and self._step > self._last:
            self._stop()
        if not self._profile and self._step == self._config["start_step"]:
            self._start()

    def _start(self):
        config = self._config
        self._last = config["stop_step"]
        folder = f"rank{rank()}_start{config['start_step']}_stop{self._last}"
        try:
            if not isinstance(self._last, int) or self._last < self._step:
                raise ValueError(f"stop_step is {self._last!r}, expected {self._step} or more")
            handler.tensorboard_trace_handler(os.path.join(self._output, folder),
                                              analyse_flag=False)
            self._profile = profile(**grouped(from_json(
                {k: v for k, v in config.items() if k not in OWN})))
            handler.forget_choice()
        except (ValueError, RuntimeError, OSError) as error:
            log.error("step %d is not profiled: %s", self._step, error)

    def _stop(self):
        running, self._profile = self._profile, None
        running.stop()
        mode = self._config["analyse_mode"]
        if running.directory and (mode in (0, 1) or self._config["analyse"]):
            analyse_or_tell(running.directory, in_background=mode == 1)
