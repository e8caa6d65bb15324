# SPDX-License-Identifier: Apache-2.0
"""Runs a .om once through acl.mdl: arrays in, arrays out, in the shapes the model states."""
import ml_dtypes
import numpy as np
from model_datasets import Model

import acl

TYPES = {
    0: np.float32,
    1: np.float16,
    2: np.int8,
    3: np.int32,
    4: np.uint8,
    9: np.int64,
    11: np.float64,
    12: np.bool_,
    34: np.uint8,  # codes of HiFloat8
    35: ml_dtypes.float8_e5m2,
    36: ml_dtypes.float8_e4m3fn}


def run_om(path, arrays):
    """{"node:0:tensor": array} of one run. The caller has initialised acl and set a device."""
    model = Model(str(path))
    assert [np.asarray(array).nbytes for array in arrays] == [s for _, _, s in model.input_data]
    model.run(*arrays)
    read = {}
    for i in range(len(model.output_data)):
        dims, ret = acl.mdl.get_output_dims(model.desc, i)
        assert ret == 0
        kind = TYPES[acl.mdl.get_output_data_type(model.desc, i)]
        read[acl.mdl.get_output_name_by_index(model.desc, i)] = model.read(i, dims["dims"], kind)
    model.close()
    return read
