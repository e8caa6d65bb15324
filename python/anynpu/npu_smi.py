# SPDX-License-Identifier: Apache-2.0
"""`npu-smi`: shows the devices in the layout that scripts already read.

'Ascend' + Name is what acl.get_soc_name() returns and atc takes as --soc_version. What a CPU does
not have (power, temperature, PCIe) prints NA. Only words from the command line are parsed here;
the facts come from runtime_facts, the text from npu_smi_text.
"""
import os
import sys

from . import npu_smi_text as text
from .runtime_facts import RuntimeUnavailable, read

USAGE = """\
Usage: npu-smi info [options]
       npu-smi -h | -v

Commands:
       info                     Show the devices as a table.

Options of info:
       -l                       List the devices.
       -m                       Show the map from device and chip to logic id and name.
       -t type -i id [-c chip]  Show one kind of information about one device.
       -h                       Show this help.
       types: """ + ", ".join(text.TYPES)


class UsageError(Exception):
    pass


def parse_info(words):
    """The options of `info` as a dictionary; raises UsageError on anything unknown."""
    options, rest = {}, list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-l", "-m", "-h", "--help"):
            options[word[:2] if word != "--help" else "-h"] = True
        elif word in ("-t", "-i", "-c"):
            if not rest:
                raise UsageError(f"the option {word} needs a value")
            options[word] = rest.pop(0)
        else:
            raise UsageError(f"unknown option '{word}'")
    for name in ("-i", "-c"):
        if name in options:
            if not options[name].isdecimal():
                raise UsageError(f"the value of {name} is '{options[name]}'; expected a number")
            options[name] = int(options[name])
    if "-t" in options and options["-t"] not in text.TYPES:
        raise UsageError(f"unknown type '{options['-t']}'; expected one of "
                         + ", ".join(text.TYPES))
    if "-t" not in options and ("-i" in options or "-c" in options):
        raise UsageError("the options -i and -c need -t type")
    if sum(name in options for name in ("-l", "-m", "-t")) > 1:
        raise UsageError("the options -l, -m and -t exclude each other")
    return options


def show_type(facts, options):
    kind, wanted = options["-t"], options.get("-i")
    if wanted is None and kind not in text.WITHOUT_ID:
        raise UsageError(f"the type {kind} needs a device: -i id")
    ids = [device.device_id for device in facts.devices]
    if wanted is not None and wanted not in ids:
        raise UsageError(f"there is no device {wanted}; `npu-smi info -l` lists {len(ids)}")
    if options.get("-c", 0) != 0:
        raise UsageError(f"device {wanted} has one chip, 0; -c says {options['-c']}")
    chosen = [d for d in facts.devices if wanted in (None, d.device_id)]
    return "\n\n".join(text.TYPES[kind](facts, device) for device in chosen)


def info(words):
    options = parse_info(words)
    if "-h" in options:
        return USAGE
    facts = read()
    if "-l" in options:
        return text.device_list(facts)
    if "-m" in options:
        return text.chip_map(facts)
    if "-t" in options:
        return show_type(facts, options)
    return text.table(facts)


def main(argv=None):
    words = sys.argv[1:] if argv is None else argv
    try:
        if not words:
            raise UsageError("a command is missing; expected info")
        if words[0] in ("-h", "--help"):
            print(USAGE)
        elif words[0] in ("-v", "--version"):
            from . import __version__
            print(f"npu-smi version: {__version__}")
        elif words[0] == "info":
            print(info(words[1:]), flush=True)
        else:
            raise UsageError(f"unknown command '{words[0]}'; expected info")
        return 0
    except UsageError as error:
        print(f"npu-smi: {error}\n\n{USAGE}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # `npu-smi info | head -3`: the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RuntimeUnavailable as error:
        print(f"npu-smi: {error}; `anynpu doctor` tells more", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
