# SPDX-License-Identifier: Apache-2.0
"""Runs recorded cases through the public path; tf_suite.py starts it.

    echo Abs.f32 | python tf_worker.py

Per case: the GraphDef through atc's library to a .om file, then acl.mdl: load, execute, unload.
"""
import os
import tempfile

import case_suite
import numpy as np
import tf_archive
from model_in_process import TENSORFLOW, Mismatch, ModelRunner

import acl


class Worker(ModelRunner):
    def __init__(self, folder):
        super().__init__(folder)
        self.model = os.path.join(folder, "case.pb")

    def run(self, case):
        try:
            outputs = self.outputs_of(case)
        except Mismatch as failure:
            return "failed", str(failure)
        if len(outputs) != len(case.outputs):
            return "failed", f"{len(outputs)} outputs, expected {len(case.outputs)}"
        for (name, want), (raw, acl_type, shape) in zip(case.outputs.items(), outputs):
            if acl_type not in tf_archive.ACL_TYPES:
                return "failed", f"{name} has aclDataType {acl_type}"
            kind = tf_archive.dtype_of(tf_archive.ACL_TYPES[acl_type])
            wrong = tf_archive.difference(np.frombuffer(raw, kind).reshape(shape), want, case.rtol)
            if wrong:
                return "failed", f"{name}: {wrong}"
        return "passed", ""

    def outputs_of(self, case):
        with open(self.model, "wb") as file:
            file.write(case.graph)
        self.compile(self.model, TENSORFLOW, case.input_shape, case.out_nodes)
        model_id = self.load()

        def feed(names):
            return [case.inputs[name.removesuffix(":0")].tobytes() for name in names]

        try:
            return self.execute(model_id, feed)
        finally:
            acl.mdl.unload(model_id)


def main():
    known = {case.name: case for case in tf_archive.all_cases()}
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="anynpu-tensorflow-", dir=memory) as folder:
        worker = Worker(folder)
        case_suite.serve(lambda name: worker.run(known[name]))


if __name__ == "__main__":
    main()
