#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts frozen.pb and runs it on random pictures: anynpu run run_frozen.py frozen.pb"""
import subprocess
import sys

import numpy as np

import acl


def check(code, what):
    if code:
        raise SystemExit(f"{what}: {code}: {acl.get_recent_err_msg()}")


def main(path):
    subprocess.run(["atc", f"--model={path}", "--framework=3", "--output=frozen",
                    "--soc_version=Ascend310P3", "--input_shape=picture:4,32,32,3"], check=True)
    check(acl.init(), "acl.init")
    check(acl.rt.set_device(0), "acl.rt.set_device")
    model, code = acl.mdl.load_from_file("frozen.om")
    check(code, "acl.mdl.load_from_file")
    desc = acl.mdl.create_desc()
    check(acl.mdl.get_desc(desc, model), "acl.mdl.get_desc")
    pictures = np.random.default_rng(0).random((4, 32, 32, 3), np.float32)
    scores = np.empty((4, 10), np.float32)
    sets, buffers = [], []
    for array in (pictures, scores):
        memory, code = acl.rt.malloc(array.nbytes, 0)
        check(code, "acl.rt.malloc")
        dataset = acl.mdl.create_dataset()
        buffer = acl.create_data_buffer(memory, array.nbytes)
        acl.mdl.add_dataset_buffer(dataset, buffer)
        sets.append(dataset)
        buffers.append((memory, buffer))
    check(acl.rt.memcpy(buffers[0][0], pictures.nbytes, pictures.ctypes.data, pictures.nbytes, 1),
          "acl.rt.memcpy")
    check(acl.mdl.execute(model, sets[0], sets[1]), "acl.mdl.execute")
    check(acl.rt.memcpy(scores.ctypes.data, scores.nbytes, buffers[1][0], scores.nbytes, 2),
          "acl.rt.memcpy")
    print("classes:", scores.argmax(1).tolist(), "sums:", scores.sum(1).round(4).tolist())
    for dataset, (memory, buffer) in zip(sets, buffers):
        acl.destroy_data_buffer(buffer)
        acl.mdl.destroy_dataset(dataset)
        acl.rt.free(memory)
    acl.mdl.destroy_desc(desc)
    acl.mdl.unload(model)
    acl.rt.reset_device(0)
    acl.finalize()


if __name__ == "__main__":
    main(sys.argv[1])
