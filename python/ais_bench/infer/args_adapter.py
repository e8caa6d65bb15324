# SPDX-License-Identifier: Apache-2.0
"""The options of the command as an object, for scripts that call it from Python:

    args = BenchMarkArgsAdapter(model="m.om", loop=10, dym_batch=4)
    benchmark_process(args)

Every option can be given and read in its own spelling (dymBatch) and in that of Python (dym_batch).
"""
import re

from ais_bench.infer import options

_OTHER_NAMES = {"om_model": "model", "input_path": "input", "dym_hw": "dymHW",
                "output_size": "outputSize", "batch_size": "batchsize"}


def _name(option):
    return option.names.split()[0].lstrip("-")


def _spellings():
    """{a name: the option's own}."""
    found = dict(_OTHER_NAMES)
    for option in options.OPTIONS:
        name = _name(option)
        found[name] = name
        found[re.sub("(?<=[a-z])([A-Z])", lambda m: "_" + m[1].lower(), name)] = name
    return found


class BenchMarkArgsAdapter:
    _names = _spellings()

    def __init__(self, model, input_path=None, output=None, **more):
        values = {_name(option): option.default for option in options.OPTIONS}
        for name, value in dict(more, model=model, input=input_path, output=output).items():
            if name not in self._names:
                raise TypeError(f"there is no option '{name}'; the options are "
                                f"{', '.join(sorted(values))}")
            if value is not None:
                values[self._names[name]] = value
        self.__dict__.update(values)

    def __getattr__(self, name):  # of the other spellings alone
        own = type(self)._names.get(name, name)
        if own == name:
            raise AttributeError(f"there is no option '{name}'")
        return self.__dict__[own]

    def __setattr__(self, name, value):
        self.__dict__[self._names.get(name, name)] = value

    def get_all_args_dict(self):
        """{"--model": "m.om", ...}"""
        return {f"--{name}": value for name, value in self.__dict__.items()}


AISBenchInferArgsAdapter = MsitInferArgsAdapter = BenchMarkArgsAdapter
