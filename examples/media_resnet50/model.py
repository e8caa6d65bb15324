# SPDX-License-Identifier: Apache-2.0
"""A classifier that takes NV12 pictures from the memory they lie in, and operators behind it."""
import numpy as np
from session import MALLOC_NORMAL_ONLY, check, checked, to_host

import acl

FLOAT, FLOAT16, INT32, ND = 0, 1, 3, 2


def destroy_dataset(dataset):
    for i in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, i)
        check("acl.destroy_data_buffer", acl.destroy_data_buffer(buffer))
    check("acl.mdl.destroy_dataset", acl.mdl.destroy_dataset(dataset))


def dataset_of(address, size):
    dataset = acl.mdl.create_dataset()
    checked("acl.mdl.add_dataset_buffer",
            acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(address, size)))
    return dataset


class Model:
    def __init__(self, path):
        self.model_id = checked("acl.mdl.load_from_file", acl.mdl.load_from_file(path))
        self.desc = acl.mdl.create_desc()
        check("acl.mdl.get_desc", acl.mdl.get_desc(self.desc, self.model_id))
        self.inputs = None

    def make_outputs(self):
        self.size = acl.mdl.get_output_size_by_index(self.desc, 0)
        self.output = checked("acl.rt.malloc", acl.rt.malloc(self.size, MALLOC_NORMAL_ONLY))
        self.outputs = dataset_of(self.output, self.size)

    def take(self, picture):
        """The picture is the input where it lies: nothing is copied."""
        wanted = acl.mdl.get_input_size_by_index(self.desc, 0)
        if picture.size != wanted:
            raise SystemExit(f"the picture has {picture.size} bytes, the model takes {wanted}; "
                             "convert it with --insert_op_conf=caffe_model/aipp.cfg")
        if self.inputs:
            destroy_dataset(self.inputs)
        self.inputs = dataset_of(picture.address, picture.size)

    def execute(self):
        check("acl.mdl.execute", acl.mdl.execute(self.model_id, self.inputs, self.outputs))

    def scores(self):
        return np.frombuffer(to_host(self.output, self.size), np.float32)

    def release(self):
        for dataset in filter(None, (self.inputs, self.outputs)):
            destroy_dataset(dataset)
        check("acl.rt.free", acl.rt.free(self.output))
        check("acl.mdl.destroy_desc", acl.mdl.destroy_desc(self.desc))
        check("acl.mdl.unload", acl.mdl.unload(self.model_id))


def print_best(scores):
    """Prints the five best classes and gives their numbers."""
    best = np.argsort(scores)[:-6:-1]
    print("\n===== top5 inference results: =====")
    for label in best:
        print(f"label:{label} prob: {scores[label]:f}")
    return best


class BestLabel:
    """The single operators Cast and ArgMaxD, made by atc from op_models/op_list.json."""

    def __init__(self, folder):
        check("acl.op.set_model_dir", acl.op.set_model_dir(folder))
        self.attr = acl.op.create_attr()
        check("acl.op.set_attr_int", acl.op.set_attr_int(self.attr, "dimension", 0))
        self.half = self.tensor(FLOAT16, 1000)
        self.label = self.tensor(INT32, 1)

    @staticmethod
    def tensor(kind, count):
        desc = acl.create_tensor_desc(kind, [count], ND)
        size = acl.get_tensor_desc_size(desc)
        address = checked("acl.rt.malloc", acl.rt.malloc(size, MALLOC_NORMAL_ONLY))
        return desc, acl.create_data_buffer(address, size), address

    def find(self, session, dataset):
        scores = acl.create_tensor_desc(FLOAT, [1000], ND)
        check("acl.op.cast", acl.op.cast(scores, acl.mdl.get_dataset_buffer(dataset, 0),
                                         self.half[0], self.half[1], 0, session.stream))
        session.wait()
        print("[SingleOP] single op cast success")
        check("acl.op.execute_v2",
              acl.op.execute_v2("ArgMaxD", [self.half[0]], [self.half[1]], [self.label[0]],
                                [self.label[1]], self.attr, session.stream))
        session.wait()
        acl.destroy_tensor_desc(scores)
        print("[SingleOp] get top 1 label success")
        label = int(np.frombuffer(to_host(self.label[2], 4), np.int32)[0])
        print(f"[SingleOP][ArgMaxOp] label of classification result is:{label}")
        return label

    def release(self):
        acl.op.destroy_attr(self.attr)
        for desc, buffer, address in (self.half, self.label):
            acl.destroy_tensor_desc(desc)
            check("acl.destroy_data_buffer", acl.destroy_data_buffer(buffer))
            check("acl.rt.free", acl.rt.free(address))
