# SPDX-License-Identifier: Apache-2.0
"""Options of a profile in one flat list, as the class Profiler takes them and as JSON has them
(profiler_config.json, MS_PROFILER_OPTIONS): which of them belong to profile and which to
_ExperimentalConfig, and the words and numbers that stand for members of enumerations."""
import inspect
import logging

from anynpu.profiler.enums import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
)
from anynpu.profiler.session import profile
from anynpu.profiler.settings import _ExperimentalConfig

log = logging.getLogger("anynpu.profiler")
KINDS = {"profiler_level": ProfilerLevel, "aic_metrics": AicoreMetrics,
         "activities": ProfilerActivity, "export_type": ExportType, "host_sys": HostSystem}
NUMBERS = {"profiler_level": {-1: "LevelNone", 0: "Level0", 1: "Level1", 2: "Level2"},
           "activities": {0: ["CPU", "NPU"], 1: ["CPU"], 2: ["NPU"]},
           "export_type": {0: ["text"], 1: ["db"], 2: ["text", "db"]}}
OF_PROFILE = set(inspect.signature(profile).parameters) - {"experimental_config"}
OF_CONFIG = set(inspect.signature(_ExperimentalConfig).parameters)


def _member(kind, word):
    if isinstance(word, str):
        word = word.strip()
        return kind.__members__.get(word) or next((m for m in kind if m.value == word), word)
    return word


def from_json(options):
    """The options with members of enumerations in place of their words and numbers."""
    made = {}
    for key, value in options.items():
        kind = KINDS.get(key)
        if kind is not None:
            if isinstance(value, int) and not isinstance(value, bool):
                value = NUMBERS.get(key, {}).get(value, value)
            value = [_member(kind, v) for v in value] if isinstance(value, list) \
                else _member(kind, value)
        made[key] = value
    return made


def grouped(options):
    """The arguments of profile for a flat list; what is not known is told and left out."""
    for key in sorted(options.keys() - OF_PROFILE - OF_CONFIG):
        log.warning("%s is no option of a profile; it is left out", key)
    config = _ExperimentalConfig(**{k: v for k, v in options.items() if k in OF_CONFIG})
    return {"experimental_config": config,
            **{k: v for k, v in options.items() if k in OF_PROFILE}}
