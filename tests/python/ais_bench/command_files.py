# SPDX-License-Identifier: Apache-2.0
"""Files for tests of the command: inputs, the summary."""
import json
import os

import numpy as np

NUMBER = r"\d+(?:\.\d+)?(?:e-?\d+)?"


def save(folder, **arrays):
    """Writes arrays as .npy (name) or raw (name_bin); their paths."""
    paths = []
    os.makedirs(folder, 0o750, exist_ok=True)
    for name, array in arrays.items():
        if name.endswith("_bin"):
            paths.append(f"{folder}/{name[:-4]}.bin")
            array.tofile(paths[-1])
        else:
            paths.append(f"{folder}/{name}.npy")
            np.save(paths[-1], array)
        os.chmod(paths[-1], 0o640)
    return paths


def summary_of(out, name="r"):
    with open(f"{out}/{name}_summary.json") as file:
        return json.load(file)
