# SPDX-License-Identifier: Apache-2.0
"""profile: collects, step by step where a schedule says so, into *_ascend_ms directories."""
import datetime
import json
import logging
import os
import shutil
import threading
import time

from anynpu import __version__
from anynpu.profiler import core, handler
from anynpu.profiler.enums import AicoreMetrics, ProfilerActivity, ProfilerLevel
from anynpu.profiler.mstx import mstx
from anynpu.profiler.plan import ProfilerAction as Action
from anynpu.profiler.plan import Schedule
from anynpu.profiler.settings import _ExperimentalConfig, flag, members
from anynpu.profiler.stacks import StackRecorder
from anynpu.whole_file import explained, write_whole

log = logging.getLogger("anynpu.profiler")
MOST_METADATA = 100 << 20
EVERY_STEP = {"wait": 0, "active": 1, "warmup": 0, "repeat": 0, "skip_first": 0}
METRIC_NUMBERS = {AicoreMetrics.ArithmeticUtilization: 0, AicoreMetrics.PipeUtilization: 1,
                  AicoreMetrics.Memory: 2, AicoreMetrics.MemoryL0: 3,
                  AicoreMetrics.ResourceConflictRatio: 4, AicoreMetrics.MemoryUB: 5,
                  AicoreMetrics.L2Cache: 6, AicoreMetrics.MemoryAccess: 8}

# What happens between two actions: I makes the directory, S starts, X stops, F completes the
# directory, T calls on_trace_ready, D deletes it, W warns.
N, U, R, V = Action.NONE, Action.WARM_UP, Action.RECORD, Action.RECORD_AND_SAVE
TRANSITIONS = {
    (N, U): "I", (N, R): "IS", (N, V): "IS", (U, R): "S", (U, V): "S", (U, N): "WSXF",
    (R, N): "WXF", (R, U): "WXFI", (V, N): "XFT", (V, U): "XFTI", (V, R): "XFTIS",
    (V, V): "XFTIS",
}
AT_END = {U: "WFD", R: "WXFT", V: "WXFT", N: ""}


def rank():
    value = os.environ.get("RANK_ID", "0")
    return value if value.isdigit() else "0"


class profile:  # noqa: N801 (the documented name)
    def __init__(self, activities=None, with_stack=False, profile_memory=False, data_process=False,
                 parallel_strategy=False, start_profile=True, hbm_ddr=False, pcie=False,
                 sync_enable=True, record_shapes=False, schedule=None, on_trace_ready=None,
                 experimental_config=None):
        self._step, self._action, self._running = 0, Action.NONE, False
        self._session = self._stacks = None
        self._directory = self._completed = None  # being recorded, and recorded last
        self._metadata, self._spans, self._span = {}, [], None
        self._activities = members("activities", activities, ProfilerActivity) if activities \
            else [ProfilerActivity.CPU, ProfilerActivity.NPU]
        self._with_stack = flag("with_stack", with_stack)
        self._profile_memory = flag("profile_memory", profile_memory)
        self._data_process = flag("data_process", data_process)
        self._parallel_strategy = flag("parallel_strategy", parallel_strategy)
        self._start_profile = flag("start_profile", start_profile, True)
        self._hbm_ddr, self._pcie = flag("hbm_ddr", hbm_ddr), flag("pcie", pcie)
        self._sync_enable = flag("sync_enable", sync_enable, True)
        self._record_shapes = flag("record_shapes", record_shapes)
        self._schedule = schedule
        self._on_trace_ready = on_trace_ready
        self._config = experimental_config
        self._place = handler.take_place(on_trace_ready)
        self._settle()
        if self._start_profile:
            self._begin()

    def _settle(self):
        if self._schedule is not None and not isinstance(self._schedule, Schedule):
            log.warning("schedule is %r, expected a schedule; wait=0, active=1 is taken",
                        self._schedule)
            self._schedule = Schedule(wait=0, active=1)
        if self._on_trace_ready is not None and not callable(self._on_trace_ready):
            log.warning("on_trace_ready is %r, expected a function; it is left out",
                        self._on_trace_ready)
            self._on_trace_ready = None
        if self._config is not None and not isinstance(self._config, _ExperimentalConfig):
            log.warning("experimental_config is %r, expected an _ExperimentalConfig; the default "
                        "is taken", self._config)
            self._config = None
        self._config = self._config or _ExperimentalConfig()
        if self._schedule is not None and self._data_process:
            log.warning("data_process does not go with a schedule; it is off")
            self._data_process = False
        cpu = ProfilerActivity.CPU in self._activities
        npu = ProfilerActivity.NPU in self._activities
        if self._profile_memory and not (cpu and npu):
            log.warning("profile_memory needs the activities CPU and NPU; it is off")
            self._profile_memory = False
        if self._with_stack and not cpu:
            log.warning("with_stack needs the activity CPU; it is off")
            self._with_stack = False
        if self._record_shapes and not cpu:
            self._record_shapes = False
        if ProfilerActivity.GPU in self._activities:
            log.warning("there is no GPU device; the activity GPU records nothing")
        for name, wanted in (("hbm_ddr", self._hbm_ddr), ("pcie", self._pcie)):
            if wanted:
                log.warning("%s: there is no counter of a chip; what is recorded are the bytes of "
                            "the program's own copies over time", name)
        if self._parallel_strategy:
            log.warning("parallel_strategy: one process has no strategy; what is recorded is empty")

    # What the program calls.

    @property
    def running(self):
        """Whether it was started and not stopped."""
        return self._running

    @property
    def directory(self):
        """The *_ascend_ms directory that was completed last; None when there is none."""
        return self._completed

    def start(self):
        if self._running:
            raise RuntimeError("the profile has been started already; call stop() first")
        if self._start_profile:
            raise RuntimeError("start() needs start_profile=False: the profile was started when it "
                               "was made")
        self._begin()

    def step(self):
        if not self._running:
            raise RuntimeError("step() needs a profile that was started")
        if self._schedule is None:
            raise RuntimeError("step() needs a schedule; give one to profile(schedule=...)")
        self._end_span()
        self._step += 1
        self._go(self._schedule(self._step))
        self._begin_span()

    def stop(self):
        if not self._running:
            raise RuntimeError("the profile has not been started; call start() first")
        self._running = False
        if self._schedule is None:
            self._do_or_tell("XFT")
            return
        self._end_span()
        self._do_or_tell(AT_END[self._action], "the last steps may be incomplete")
        self._action = Action.NONE

    def add_metadata(self, key, value):
        if not isinstance(key, str) or not isinstance(value, str):
            log.warning("add_metadata: key and value are expected to be texts; %r is left out", key)
            return
        self._add(key, value)

    def add_metadata_json(self, key, value):
        try:
            if not isinstance(key, str) or not isinstance(value, str):
                raise ValueError("both are expected to be texts")
            self._add(key, json.loads(value))
        except ValueError as error:
            log.warning("add_metadata_json: %r is left out: %s", key, error)

    def _add(self, key, value):
        if len(json.dumps({**self._metadata, key: value})) > MOST_METADATA:
            log.warning("the metadata would have more than 100 MB; %r is left out", key)
            return
        if key in self._metadata:
            log.warning("the metadata has %r already; the new value counts", key)
        self._metadata[key] = value
        if self._directory is None and handler.last() and not self._running:
            self._write_metadata(handler.last())

    def __enter__(self):
        if not self._running:
            self._begin()
        return self

    def __exit__(self, *exception):
        if self._running:
            self.stop()

    def __del__(self):
        if getattr(self, "_running", False):
            self.stop()

    # How it goes on.

    def _begin(self):
        self._running = True
        try:
            if self._schedule is None:
                self._do_or_tell("IS", raised=core.TakenError)
                return
            self._step, self._action = 0, self._schedule(0)
            self._do_or_tell(TRANSITIONS.get((N, self._action), ""), raised=core.TakenError)
            self._begin_span()
        except BaseException:
            self._running = False
            raise

    def _go(self, action):
        steps = TRANSITIONS.get((self._action, action), "")
        self._action = action
        self._do_or_tell(steps, "the steps recorded so far are dropped")

    def _do_or_tell(self, letters, warning="", raised=()):
        """_do in the midst of the program, which a full disk or a lost folder may not end."""
        for letter in letters:
            try:
                self._do(letter, warning)
            except (OSError, core.SessionError) as error:
                if letter == "T" or isinstance(error, raised):
                    raise  # of the program's own function, or of its own making
                log.error("profile: %s; the program goes on", explained(error))

    def _do(self, letters, warning=""):
        for letter in letters:
            if letter == "W":
                log.warning("profile: stopped while recording; %s", warning)
            elif letter == "I":
                self._make_directory()
            elif letter == "S" and self._directory:
                self._start_session()
            elif letter == "X":
                self._stop_session()
            elif letter == "F":
                self._completed, directory = None, self._directory
                if directory:
                    self._complete()
                    self._completed = directory
            elif letter == "T" and self._on_trace_ready and self._completed:
                self._on_trace_ready()
            elif letter == "D" and self._completed:
                shutil.rmtree(self._completed, ignore_errors=True)
                self._completed = None

    def _make_directory(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        stamp = now.strftime("%Y%m%d%H%M%S") + f"{now.microsecond // 1000:03d}"
        base = os.path.join(self._place.path, f"{self._place.worker}_{os.getpid()}_{stamp}")
        directory, self._directory = base + "_ascend_ms", None
        while os.path.exists(directory):  # two in one millisecond
            stamp = str(int(stamp) + 1)
            directory = os.path.join(
                self._place.path, f"{self._place.worker}_{os.getpid()}_{stamp}_ascend_ms")
        os.makedirs(os.path.join(directory, "FRAMEWORK"))
        os.makedirs(os.path.join(directory, "logs"))
        self._directory = directory

    def _bits(self):
        level, npu = self._config.profiler_level, ProfilerActivity.NPU in self._activities
        bits = 0
        if npu and level is not ProfilerLevel.LevelNone:
            # Calls at every level, as MindSpore itself has it: arrows lead from them to kernels.
            bits |= core.API | (core.TASK_L0 if level is ProfilerLevel.Level0 else core.TASK_L1)
        if not self._sync_enable:
            bits |= core.API
        if level is ProfilerLevel.Level2:
            bits |= core.RUNTIME
        if self._profile_memory:
            bits |= core.MEMORY
        if self._config.mstx or self._data_process:
            bits |= core.TX
        if self._config.aic_metrics is not AicoreMetrics.AiCoreNone:
            bits |= core.METRICS
        return bits or core.API

    def _start_session(self):
        settings = {"app": self._place.worker}
        if self._config.host_sys:
            settings["host_sys"] = ",".join(h.value for h in self._config.host_sys)
        mstx._domains = (self._config.mstx_domain_include, self._config.mstx_domain_exclude)
        try:
            self._session = core.Session(self._directory, self._bits(), METRIC_NUMBERS.get(
                self._config.aic_metrics, core.NO_METRICS), settings)
        except core.SessionError:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None
            raise
        if self._with_stack:
            self._stacks = StackRecorder()
            self._stacks.start()

    def _stop_session(self):
        if self._stacks:
            self._stacks.stop()
        session, self._session = self._session, None
        mstx._domains = (None, None)
        if session:
            session.stop()

    def _begin_span(self):
        self._span = (f"ProfilerStep#{self._step}", time.monotonic_ns())

    def _end_span(self):
        if self._span and self._session:
            name, begin = self._span
            self._spans.append((threading.get_native_id(), 0, begin,
                                time.monotonic_ns() - begin, name))
        self._span = None

    # What it writes.

    def _complete(self):
        directory, spans, stacks = self._directory, self._spans, self._stacks
        self._directory, self._spans, self._stacks = None, [], None
        folder = os.path.join(directory, "FRAMEWORK")
        self._write_rows(os.path.join(folder, "mindspore.op_range"), spans)
        if stacks:
            self._write_rows(os.path.join(folder, "mindspore.python_stack"), stacks.rows())
        self._write_metadata(directory)
        write_whole(os.path.join(directory, f"profiler_info_{rank()}.json"),
                    json.dumps(self._info(), indent=4))
        handler.completed(directory)

    @staticmethod
    def _write_rows(path, rows):
        write_whole(path, "".join(json.dumps(row) + "\n" for row in rows))

    def _write_metadata(self, directory):
        if self._metadata and os.path.isdir(directory):
            write_whole(os.path.join(directory, "profiler_metadata.json"),
                        json.dumps(self._metadata, indent=4))

    def _info(self):
        config = self._config
        parameters = {
            "is_set_schedule": self._schedule is not None, "output_path": self._place.path,
            "profiler_level": config.profiler_level.value,
            "activities": [a.value for a in self._activities],
            "aic_metrics": config.aic_metrics.value, "with_stack": self._with_stack,
            "profile_memory": self._profile_memory, "data_process": self._data_process,
            "parallel_strategy": self._parallel_strategy, "start_profile": self._start_profile,
            "l2_cache": config.l2_cache, "hbm_ddr": self._hbm_ddr, "pcie": self._pcie,
            "sys_io": config.sys_io, "sys_interconnection": config.sys_interconnection,
            "host_sys": [h.value for h in config.host_sys], "sync_enable": self._sync_enable,
            "data_simplification": config.data_simplification,
            "record_shapes": self._record_shapes,
            "export_type": [e.value for e in config.export_type], "mstx": config.mstx,
            "mstx_domain_include": config.mstx_domain_include,
            "mstx_domain_exclude": config.mstx_domain_exclude,
            "schedule": self._schedule.to_dict() if self._schedule else EVERY_STEP}
        return {"profiler_parameters": parameters,
                "ms_profiler_info": {"rank_id": rank(), "device_id": "0"},
                "cann_profiler_info": {}, "analysis_cost_time": {}, "ms_version": "",
                "cann_version": f"AnyNPU {__version__}", "jit_level": ""}
