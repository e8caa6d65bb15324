# SPDX-License-Identifier: Apache-2.0
"""HPE called at random from Python: whatever is called with whatever, an exception or an answer."""
import os
import random
import subprocess
import sys
import textwrap

from hpe_programs import kernels

ROUNDS = int(os.environ.get("ANYNPU_FUZZ_ROUNDS", "3"))
PROGRAM = """
    import inspect, os, random, signal, sys
    import numpy as np
    import hpe.hpert.api as hpe
    signal.alarm(240)
    random.seed(int(sys.argv[2]))
    null = os.open(os.devnull, os.O_WRONLY)
    image = open(sys.argv[1], "rb").read()
    skipped = {"forever", "hold", "trap", "stop"}
    values = [lambda: None, lambda: 0, lambda: 1, lambda: -1, lambda: 2**31, lambda: 2**63,
              lambda: -2**70, lambda: 1e308, lambda: float("nan"), lambda: "", lambda: "who",
              lambda: "nothing", lambda: b"", lambda: image[:random.randrange(len(image))],
              lambda: image, lambda: [], lambda: {},
              lambda: np.zeros(random.randrange(9), np.int32),
              lambda: np.zeros((2, 3))[:, ::2], lambda: object, lambda: True, lambda: (1, 2, 3),
              lambda: random.choice(made), lambda: random.choice(made), lambda: random.choice(made),
              lambda: [random.choice(made)], lambda: random.randrange(5000)]
    made = [hpe.module(image), hpe.device_mem(64), hpe.stream(), hpe.event()]
    makers = [getattr(hpe, name) for name in dir(hpe) if not name.startswith("_")
              and callable(getattr(hpe, name)) and not issubclass_of_exception(getattr(hpe, name))]
    calls = failed = 0
    for _ in range(int(sys.argv[3])):
        target = random.choice(made + makers)
        if target not in makers and random.random() < 0.9:
            names = [n for n in dir(target) if not n.startswith("__")]
            target = getattr(target, random.choice(names), None) if names else None
        if not callable(target):
            continue
        arguments = [random.choice(values)() for _ in range(random.randrange(5))]
        calls += 1
        try:
            result = target(*arguments)
        except Exception as error:
            failed += 1
            assert str(error), (target, arguments)
            continue
        if type(result).__module__.startswith("hpe"):
            made.append(result)
            if len(made) > 40:
                made.pop(random.randrange(len(made)))
    print(calls, failed)
"""
HEAD = """
def issubclass_of_exception(value):
    return isinstance(value, type) and issubclass(value, BaseException)
"""


def test_random_calls_of_hpe_end_in_an_answer_or_an_exception(tmp_path):
    image = tmp_path / "kernels.o"
    image.write_bytes(kernels())
    for _ in range(ROUNDS):
        seed = random.randrange(1 << 30)
        done = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(PROGRAM), str(image),
                               str(seed), "3000"], capture_output=True, text=True, timeout=300,
                              cwd=tmp_path)
        assert done.returncode == 0, f"seed {seed}: {done.returncode}\n{done.stderr[-3000:]}"
        calls, failed = map(int, done.stdout.split()[-2:])
        assert calls > 1000 and 0 < failed < calls
