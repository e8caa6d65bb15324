# SPDX-License-Identifier: Apache-2.0
"""The options of msprof: all of the form --name=value, in one table.

`key` is the name in the profiler section of acl.json, which the collected program is given.
"""
from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

ON_OFF = ("on", "off")
METRICS = ("ArithmeticUtilization", "PipeUtilization", "Memory", "MemoryL0",
           "ResourceConflictRatio", "MemoryUB", "L2Cache", "PipelineExecuteUtilization",
           "MemoryAccess")
CARD = "asks a card for what only it has; nothing is collected for it here"


@dataclass(frozen=True)
class Option:
    words: tuple = ()  # what it takes; empty for any text
    numbers: tuple = ()  # or a range
    key: str = ""
    default: str = ""
    card: bool = False  # accepted, checked, and said to collect nothing
    comma: bool = False  # several words


LEVELS = ("on", "off", "l0", "l1", "l2", "l3")
OPTIONS = {
    "application": Option(), "output": Option(), "environment": Option(),
    "storage-limit": Option(key="storage_limit"), "type": Option(("text", "db"), default="text"),
    "python-path": Option(), "dynamic": Option(ON_OFF), "pid": Option(numbers=(1, 4194304)),
    "delay": Option(numbers=(1, 4294967295)), "duration": Option(numbers=(1, 4294967295)),
    "ascendcl": Option(ON_OFF, key="ascendcl", default="on"),
    "task-time": Option(LEVELS, key="task_time", default="on"),
    "task-trace": Option(LEVELS, key="task_trace"),
    "runtime-api": Option(ON_OFF, key="runtime_api", default="off"),
    "msproftx": Option(ON_OFF, key="msproftx", default="off"),
    "task-memory": Option(ON_OFF, key="task_memory", default="off"),
    "ge-api": Option(("off", "l0", "l1"), key="ge_api"),
    "aic-metrics": Option(METRICS, key="aic_metrics"),
    "ai-core": Option(ON_OFF, default="on"),
    "aic-mode": Option(("task-based", "sample-based")), "aic-freq": Option(numbers=(1, 100)),
    "ai-vector-core": Option(ON_OFF), "aiv-mode": Option(("task-based", "sample-based")),
    "aiv-freq": Option(numbers=(1, 100)), "aiv-metrics": Option(METRICS),
    "aicore-shape": Option(ON_OFF, key="aicore_shape"), "model-execution": Option(ON_OFF),
    "task-tsfw": Option(ON_OFF, key="task_tsfw", card=True),
    "aicpu": Option(ON_OFF, key="aicpu", card=True), "l2": Option(ON_OFF, key="l2", card=True),
    "hccl": Option(ON_OFF, key="hccl", card=True),
    "mstx-domain-include": Option(key="mstx_domain_include"),
    "mstx-domain-exclude": Option(key="mstx_domain_exclude"),
    "instr-profiling": Option(ON_OFF, card=True),
    "instr-profiling-freq": Option(numbers=(300, 30000), card=True),
    "sys-devices": Option(), "sys-period": Option(numbers=(1, 2592000)),
    "sys-hardware-mem": Option(ON_OFF),
    "sys-hardware-mem-freq": Option(numbers=(1, 100), key="sys_hardware_mem_freq"),
    "llc-profiling": Option(("read", "write"), card=True),
    "sys-cpu-profiling": Option(ON_OFF), "sys-cpu-freq": Option(numbers=(1, 50),
                                                               key="sys_cpu_freq"),
    "sys-profiling": Option(ON_OFF), "sys-sampling-freq": Option(numbers=(1, 10)),
    "sys-pid-profiling": Option(ON_OFF), "sys-pid-sampling-freq": Option(numbers=(1, 10)),
    "sys-io-profiling": Option(ON_OFF, card=True),
    "sys-io-sampling-freq": Option(numbers=(1, 100), card=True),
    "sys-interconnection-profiling": Option(ON_OFF, card=True),
    "sys-interconnection-freq": Option(numbers=(1, 50), card=True),
    "dvpp-profiling": Option(ON_OFF), "dvpp-freq": Option(numbers=(1, 100), key="dvpp_freq"),
    "host-sys": Option(("cpu", "mem", "disk", "network", "osrt"), key="host_sys", comma=True),
    "host-sys-pid": Option(), "host-sys-usage": Option(("cpu", "mem"), key="host_sys_usage",
                                                       comma=True),
    "host-sys-usage-freq": Option(numbers=(1, 50), key="host_sys_usage_freq"),
    "sys-lp": Option(ON_OFF, card=True), "sys-lp-freq": Option(numbers=(1, 100), card=True),
    "export": Option(ON_OFF), "parse": Option(ON_OFF), "query": Option(ON_OFF),
    "analyze": Option(ON_OFF), "rule": Option(("communication", "communication_matrix"),
                                              comma=True),
    "iteration-id": Option(numbers=(1, 2**32)), "model-id": Option(numbers=(0, 4294967295)),
    "summary-format": Option(("csv", "json"), default="csv"), "reports": Option(),
    "clear": Option(ON_OFF),
}
FORBIDDEN = re.compile(r"""["'\\%<>|&$;`\x00-\x1f]""")


class UsageError(Exception):
    """An invalid command line; the message says why and what is expected."""


def _check(name, value, option):
    if option.words:
        for word in value.split(",") if option.comma else [value]:
            if word not in option.words:
                raise UsageError(f"--{name}={value}: expected "
                                 + ("a comma list of " if option.comma else "one of ")
                                 + ", ".join(option.words))
    if option.numbers:
        low, high = option.numbers
        if not value.isdigit() or not low <= int(value) <= high:
            raise UsageError(f"--{name}={value}: expected a number from {low} to {high}")
    if name == "storage-limit" and not (re.fullmatch(r"\d{3,10}MB", value)
                                        and 200 <= int(value[:-2]) <= 4294967295):
        raise UsageError(f"--{name}={value}: expected a size from 200MB to 4294967295MB")
    if name == "output" and FORBIDDEN.search(value):
        raise UsageError(f"--output={value!r}: a character in it is not allowed; choose a folder "
                         "without quotes and without any of \\ % < > | & $ ; `")


WORK = ("export", "parse", "query", "analyze")
SYSTEM = ("sys-profiling", "sys-pid-profiling", "sys-cpu-profiling", "sys-hardware-mem",
          "sys-io-profiling", "sys-interconnection-profiling", "dvpp-profiling")


def _on(given, *names):
    return [n for n in names if given.get(n) == "on"]


# (whether the rule is broken, what it says). `app` is whether a program is named.
RULES = (
    (lambda g, app: app and _on(g, *WORK),
     "a program and --export, --parse, --query or --analyze exclude each other; collect first"),
    (lambda g, app: "pid" in g and not _on(g, "dynamic"),
     "--pid needs --dynamic=on: only a collection that is switched by hand attaches to a process"),
    (lambda g, app: "pid" in g and app,
     "--pid and a program exclude each other; name the process that runs, or start one"),
    (lambda g, app: _on(g, "dynamic") and not app and "pid" not in g,
     "--dynamic=on needs a program, or --pid=... of one that was started with "
     "PROFILING_MODE=dynamic"),
    (lambda g, app: _on(g, "dynamic") and ("delay" in g or "duration" in g),
     "--dynamic=on and --delay or --duration exclude each other; type start and stop, or give "
     "times"),
    (lambda g, app: ("delay" in g or "duration" in g) and not app,
     "--delay and --duration need a program to count from its start"),
    (lambda g, app: _on(g, "aicore-shape") and g.get("task-time") != "l0",
     "--aicore-shape=on needs --task-time=l0; the other levels have shapes anyway"),
    (lambda g, app: "mstx-domain-include" in g and "mstx-domain-exclude" in g,
     "--mstx-domain-include and --mstx-domain-exclude exclude each other; keep one"),
    (lambda g, app: ("mstx-domain-include" in g or "mstx-domain-exclude" in g)
     and not _on(g, "msproftx"), "--mstx-domain-include and -exclude need --msproftx=on"),
    (lambda g, app: "llc-profiling" in g and not _on(g, "sys-hardware-mem"),
     "--llc-profiling needs --sys-hardware-mem=on"),
    (lambda g, app: ("iteration-id" in g or "model-id" in g or "clear" in g)
     and not _on(g, "export"), "--iteration-id, --model-id and --clear need --export=on"),
    (lambda g, app: "rule" in g and not _on(g, "analyze"), "--rule needs --analyze=on"),
    (lambda g, app: "host-sys-pid" in g and (app or not ("host-sys" in g or "host-sys-usage" in g)),
     "--host-sys-pid names a process that runs and needs --host-sys or --host-sys-usage, without a "
     "program"),
    (lambda g, app: ("host-sys" in g or "host-sys-usage" in g) and not app
     and "host-sys-pid" not in g and "pid" not in g,
     "--host-sys and --host-sys-usage need a program, or --host-sys-pid=... of one that runs"),
    (lambda g, app: _on(g, *SYSTEM) and not app and "pid" not in g and "sys-devices" not in g,
     "without a program, --sys-... switches need --sys-devices=all or a list of devices"),
    (lambda g, app: ("sys-devices" in g or "host-sys-pid" in g) and not app
     and "sys-period" not in g,
     "without a program, --sys-period=... has to say for how many seconds to collect"),
    (lambda g, app: "sys-period" in g and (app or not ("sys-devices" in g or "host-sys-pid" in g)),
     "--sys-period goes with --sys-devices or --host-sys-pid, without a program"),
    (lambda g, app: "sys-devices" in g and not app and not _on(g, *SYSTEM) and "host-sys" not in g
     and "host-sys-usage" not in g,
     "--sys-devices needs something to collect, for example --sys-profiling=on"),
)


def parse(argv):
    """(options as given, program and its arguments). Raises UsageError."""
    given, program = {}, []
    for at, argument in enumerate(argv):
        if not argument.startswith("--"):
            program = argv[at:]
            break
        name, equals, value = argument[2:].partition("=")
        if name not in OPTIONS:
            raise UsageError(f"--{name} is no option of msprof; 'msprof --help' lists them")
        if not equals or not value:
            raise UsageError(f"--{name} needs a value: --{name}=...")
        _check(name, value, OPTIONS[name])
        given[name] = value
    if program and "application" in given:
        raise UsageError(f"--application={given['application']} and '{program[0]}' both name a "
                         "program; keep one")
    program = program or shlex.split(given.get("application", ""))
    for broken, sentence in RULES:
        if broken(given, bool(program)):
            raise UsageError(sentence)
    return given, program


def _with_parts(config, key, parts):
    words = [w for w in config.get(key, "").split(",") if w]
    config[key] = ",".join(dict.fromkeys([*words, *parts]))


def sample_config(given, output, app):
    """The profiler section that the collected program gets."""
    config = {"switch": "on", "output": output, "app": app}
    for name, option in OPTIONS.items():
        value = given.get(name, option.default)
        if option.key and value:
            config[option.key] = int(value) if option.numbers else value
    if given.get("ai-core", "on") == "on":
        config.setdefault("aic_metrics", "PipeUtilization")
    if _on(given, "sys-hardware-mem"):
        config.setdefault("sys_hardware_mem_freq", 50)
    # The system of a device is the host's here.
    if _on(given, "sys-profiling", "sys-pid-profiling"):
        _with_parts(config, "host_sys", ["cpu", "mem"])
        frequency = given.get("sys-sampling-freq") or given.get("sys-pid-sampling-freq")
        if frequency:
            config.setdefault("host_sys_usage_freq", int(frequency))
    return config
