# SPDX-License-Identifier: Apache-2.0
"""The older ways to the same profile: the class Profiler, and MS_PROFILER_OPTIONS in the
environment."""
import atexit
import json
import logging
import os

from anynpu.profiler import handler
from anynpu.profiler.analysis import analyse, analyse_or_tell
from anynpu.profiler.options import from_json, grouped
from anynpu.profiler.session import profile

log = logging.getLogger("anynpu.profiler")


class Profiler(profile):
    """Deprecated in favour of profile: takes the options of profile and of _ExperimentalConfig side
    by side, and analyses what it recorded itself."""

    def __init__(self, *, output_path="./data", **options):
        log.warning("Profiler is deprecated; use profile")
        if not options.get("on_trace_ready"):  # whose own folder comes before output_path
            handler.tensorboard_trace_handler(output_path, analyse_flag=False)
        super().__init__(**grouped(options))
        handler.forget_choice()  # it was for this object alone

    def analyse(self, offline_path=None, pretty=False, step_list=None, mode="sync"):
        """Stops the profile where it still runs, and analyses it (or another, `offline_path`);
        with mode "async" in a process of its own."""
        if offline_path is None:
            if self.running:
                self.stop()
            offline_path = self.directory
            if offline_path is None:
                log.error("nothing was recorded; there is nothing to analyse")
                return
        if mode not in ("sync", "async"):
            log.warning("mode is %r, expected 'sync' or 'async'; 'sync' is taken", mode)
        if mode == "async":
            analyse_or_tell(offline_path, in_background=True, pretty=pretty, step_list=step_list)
        else:
            analyse(offline_path, pretty=pretty, step_list=step_list)

    @classmethod
    def offline_analyse(cls, path, pretty=False, step_list=None, data_simplification=True):
        analyse(path, pretty=pretty, step_list=step_list, data_simplification=data_simplification)


class EnvProfiler:
    """Profiles the process as MS_PROFILER_OPTIONS says, from now to its exit. Made when a program
    imports mindspore (anynpu/mindspore_name.py). A variable that is wrong is told, and the program
    goes on without."""

    VARIABLE = "MS_PROFILER_OPTIONS"

    def __init__(self):
        self._profiler = None
        try:
            options = json.loads(os.environ.get(self.VARIABLE) or "{}")
            if not isinstance(options, dict):
                raise ValueError("an object is expected")
        except ValueError as error:
            log.error("%s is ignored: %s", self.VARIABLE, error)
            return
        if options.pop("start", False) is not True:
            return
        for name in ("schedule", "on_trace_ready", "start_profile"):
            if options.pop(name, None) is not None:
                log.warning("%s: %s cannot be given here; it is left out", self.VARIABLE, name)
        try:
            self._profiler = Profiler(**from_json(options))
        except (RuntimeError, OSError, TypeError) as error:
            log.error("%s: %s", self.VARIABLE, error)
            return
        atexit.register(self.stop)

    def stop(self):
        """Ends and analyses the profile; does nothing where there is none."""
        profiler, self._profiler = self._profiler, None
        try:
            if profiler:
                profiler.analyse()
        except (RuntimeError, ValueError, OSError) as error:
            log.error("%s: %s", self.VARIABLE, error)
