# SPDX-License-Identifier: Apache-2.0
"""Every operator, called with tensors of a wrong rank, empty lists, null pointers and numbers at
the ends of their types: each call is carried out or refused with a sentence, and ends no
process."""
import os
import subprocess
import sys

import pytest
from build_tree import ROOT

from aclnn import OPERATORS

# The calls of one form, in a process of their own: the last line names the call that ended it.
WALK = r"""
import sys
import numpy as np
from aclnn import C_TYPES, Failed, Session, _generator

form = {"scalars": dict(shape=()), "vectors": dict(shape=(4,)), "matrices": dict(shape=(2, 3)),
        "pictures": dict(shape=(1, 2, 4, 4)), "empty": dict(shape=(0, 2)),
        "null": dict(shape=None), "many axes": dict(shape=(1, 2, 1, 1, 2, 1, 1, 1)),
        "integers": dict(shape=(2, 3), dtype=np.int64), "low": dict(shape=(3, 2), number=-2**63),
        "high": dict(shape=(3, 2), number=2**63 - 1),
        "minus": dict(shape=(2, 2, 2), number=-1)}[sys.argv[1]]
shape, dtype, number = form["shape"], form.get("dtype", np.float32), form.get("number", 0)
real = float(number)


def argument(nn, kind):
    if kind in C_TYPES:
        if kind in ("double", "float"):
            return real
        return bool(number) if kind == "bool" else number
    if kind == "char*" or shape is None:
        return None
    listed = number != 0
    tensor = np.ones(shape, dtype)
    return {"aclTensor*": lambda: nn.tensor(tensor.copy()), "aclScalar*": lambda: nn.scalar(real),
            "aclIntArray*": lambda: nn.ints([number] * 3 if listed else []),
            "aclFloatArray*": lambda: nn.floats([real] if listed else []),
            "aclBoolArray*": lambda: nn.bools([True] if listed else []),
            "aclTensorList*": lambda: nn.tensors([nn.tensor(tensor.copy())] if listed else []),
            "aclScalarList*": lambda: nn.scalars([real] if listed else [])}[kind]()


there = _generator().implemented()
carried_out = refused = 0
with Session() as nn:
    for op in _generator().operators():
        if op.name not in there:
            continue
        print(op.name, flush=True)
        values = [argument(nn, p.type.removeprefix("const ")) for p in op.parameters]
        try:
            size, executor = nn.prepare(op.name, *values)
            if size <= 1 << 26:
                nn.execute(op.name, size, executor)
                nn.synchronize()
            carried_out += 1
        except Failed as failure:
            assert failure.sentence, op.name
            refused += 1
        nn.clear()
print("done", carried_out, refused)
"""


@pytest.mark.parametrize("form", ["scalars", "vectors", "matrices", "pictures", "empty", "null",
                                  "many axes", "integers", "low", "high", "minus"])
def test_wrong_arguments_end_no_process(form):
    path = os.pathsep.join([os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "tests"),
                            os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", WALK, form], capture_output=True, text=True,
                          timeout=300, env={**os.environ, "PYTHONPATH": path,
                                            "ANYNPU_ERRORS": "off"})
    last = (done.stdout.splitlines() or [""])[-1]
    assert done.returncode == 0, f"{last}: {done.returncode} {done.stderr[-1500:]}"
    word, carried_out, refused = last.split()
    assert word == "done" and int(carried_out) + int(refused) > 500
    assert int(refused) > 0 and len(OPERATORS) > 500
    if form == "null":
        assert int(carried_out) == 0, "what is required may not be null"
