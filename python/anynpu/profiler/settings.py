# SPDX-License-Identifier: Apache-2.0
"""_ExperimentalConfig, and how arguments are put right: a wrong type warns and the default is
taken; settings that exclude each other are settled as documented."""
import logging

from anynpu.profiler.enums import AicoreMetrics, ExportType, HostSystem, ProfilerLevel

log = logging.getLogger("anynpu.profiler")


def flag(name, value, otherwise=False):
    if isinstance(value, bool):
        return value
    log.warning("%s is %r, expected True or False; %s is taken", name, value, otherwise)
    return otherwise


def member(name, value, kind, otherwise):
    if isinstance(value, kind):
        return value
    log.warning("%s is %r, expected a %s; %s is taken", name, value, kind.__name__, otherwise.name)
    return otherwise


def members(name, value, kind):
    """A list of the enumeration, without repetitions; wrong items are left out."""
    found = []
    for item in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(item, str) and item in {m.value for m in kind}:
            item = kind(item)
        if not isinstance(item, kind):
            log.warning("%s has %r, expected %s; it is left out", name, item, kind.__name__)
        elif item not in found:
            found.append(item)
    return found


def domains(name, value):
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return list(dict.fromkeys(value))
    log.warning("%s is %r, expected a list of texts; it is left out", name, value)
    return []


class _ExperimentalConfig:
    def __init__(self, profiler_level=ProfilerLevel.Level0, aic_metrics=AicoreMetrics.AiCoreNone,
                 l2_cache=False, mstx=False, data_simplification=True, export_type=None,
                 mstx_domain_include=None, mstx_domain_exclude=None, sys_io=False,
                 sys_interconnection=False, host_sys=None):
        self.profiler_level = member("profiler_level", profiler_level, ProfilerLevel,
                                     ProfilerLevel.Level0)
        self.aic_metrics = member("aic_metrics", aic_metrics, AicoreMetrics,
                                  AicoreMetrics.AiCoreNone)
        self.l2_cache = flag("l2_cache", l2_cache)
        self.mstx = flag("mstx", mstx)
        self.data_simplification = flag("data_simplification", data_simplification, True)
        self.export_type = members("export_type", export_type, ExportType) \
            if export_type is not None else []
        self.export_type = self.export_type or [ExportType.Text]
        self.mstx_domain_include = domains("mstx_domain_include", mstx_domain_include)
        self.mstx_domain_exclude = domains("mstx_domain_exclude", mstx_domain_exclude)
        self.sys_io = flag("sys_io", sys_io)
        self.sys_interconnection = flag("sys_interconnection", sys_interconnection)
        self.host_sys = members("host_sys", host_sys, HostSystem) if host_sys else []
        self._settle()

    def _settle(self):
        if self.profiler_level is ProfilerLevel.LevelNone and not self.mstx:
            log.warning("LevelNone records nothing but mstx, which is off; Level0 is taken")
            self.profiler_level = ProfilerLevel.Level0
        low = self.profiler_level in (ProfilerLevel.LevelNone, ProfilerLevel.Level0)
        if low:
            self.aic_metrics = AicoreMetrics.AiCoreNone
        elif self.aic_metrics is AicoreMetrics.AiCoreNone:
            self.aic_metrics = AicoreMetrics.PipeUtilization
        if not self.mstx:
            self.mstx_domain_include, self.mstx_domain_exclude = [], []
        if self.mstx_domain_include and self.mstx_domain_exclude:
            log.warning("mstx_domain_include and mstx_domain_exclude are both given; the first "
                        "counts")
            self.mstx_domain_exclude = []
