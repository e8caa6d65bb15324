# SPDX-License-Identifier: Apache-2.0
"""LeNet from MindSpore to AnyNPU: built and exported by MindSpore on the CPU, converted by atc, run
with acl.mdl, compared.

    pip install mindspore==2.10.0
    anynpu run examples/mindspore/lenet.py
"""
import os
import subprocess
import tempfile

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

from ais_bench.infer.interface import InferSession


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
            nn.Dense(400, 120, activation="relu"), nn.Dense(120, 84, activation="relu"),
            nn.Dense(84, 10))

    def construct(self, x):
        return self.layers(x)


def main():
    ms.set_device("CPU")
    ms.set_seed(1)
    net = LeNet()
    net.set_train(False)
    picture = np.random.RandomState(0).randn(1, 1, 32, 32).astype(np.float32)
    theirs = net(Tensor(picture)).asnumpy()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lenet")
        ms.export(net, Tensor(picture), file_name=path, file_format="MINDIR")
        subprocess.run(["atc", f"--model={path}.mindir", "--framework=1", f"--output={path}",
                        "--soc_version=Ascend310P3"], check=True)
        ours, = InferSession(0, path + ".om").infer([picture])
    print("MindSpore:", np.round(theirs[0], 4))
    print("AnyNPU:   ", np.round(ours[0], 4))
    print("largest difference:", np.abs(ours - theirs).max())


if __name__ == "__main__":
    main()
