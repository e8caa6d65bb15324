# SPDX-License-Identifier: Apache-2.0
"""Runs a network on MindSpore's CPU and writes its file."""
import os

import mindspore as ms
import numpy as np

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


def flat(outputs):
    if isinstance(outputs, (tuple, list)):
        return [array for one in outputs for array in flat(one)]
    return [np.asarray(outputs.asnumpy() if hasattr(outputs, "asnumpy") else outputs)]


def run_and_export(net, inputs, path):
    """Inputs and outputs as arrays; the file is `path`, which ends in .mindir."""
    net.set_train(False)
    outputs = flat(net(*inputs))
    if os.path.exists(path):
        os.remove(path)
    ms.export(net, *inputs, file_name=path.removesuffix(".mindir"), file_format="MINDIR")
    return [x.asnumpy() for x in inputs], outputs
