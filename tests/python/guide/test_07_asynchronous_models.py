# SPDX-License-Identifier: Apache-2.0
"""Guide 7.5.2 (asynchronous inference with callbacks) and 7.8.4 (one thread, several streams)."""
import functools
import os
import shutil
import struct
from types import SimpleNamespace

import numpy as np
from blocks import block, read_bytes, run_block, write_bytes
from conftest import expected_scores

import acl

IMG_EXT = ['.jpg', '.JPG', '.png', '.PNG', '.bmp', '.BMP', '.jpeg', '.JPEG']

PROGRAM = r"""
import acl
import argparse

images_list = [os.path.join(args.images_path, img) for img in os.listdir(args.images_path) \
               if os.path.splitext(img)[1] in IMG_EXT]
data_list = []
for image in images_list:
    transfer_pic(image)
    dst_im = np.fromfile(image.replace(".jpg", ".bin"), dtype=np.byte)
    data_list.append(dst_im)

ret = acl.init()
ret = acl.rt.set_device(self.device_id)
self.context, ret = acl.rt.create_context(self.device_id)
self.stream, ret = acl.rt.create_stream()
self.run_mode, ret = acl.rt.get_run_mode()
self.model_id, ret = acl.mdl.load_from_file(self.model_path)
self.model_desc = acl.mdl.create_desc()
ret = acl.mdl.get_desc(self.model_desc, self.model_id)

def _data_interaction(self, images_dataset_list):
    for idx in range(self.memory_pool):
        img_idx = idx % len(images_dataset_list)
        img_input = self._load_input_data(images_dataset_list[img_idx])
        infer_output = self._load_output_data()
        self.dataset_list.append([img_input, infer_output])
_data_interaction(self, data_list)
tid, ret = acl.util.start_thread(self._process_callback, [self.context, 50])
ret = acl.rt.subscribe_report(tid, self.stream)
def callback_func(self, delete_list):
    for temp in delete_list:
        _, infer_output = temp
        num = acl.mdl.get_dataset_num_buffers(infer_output)
        for i in range(num):
            temp_output_buf = acl.mdl.get_dataset_buffer(infer_output, i)
            infer_output_ptr = acl.get_data_buffer_addr(temp_output_buf)
            infer_output_size = acl.get_data_buffer_size(temp_output_buf)
            output_host, ret = acl.rt.malloc_host(infer_output_size)
            ret = acl.rt.memcpy(output_host,
                                infer_output_size,
                                infer_output_ptr,
                                infer_output_size,
                                ACL_MEMCPY_DEVICE_TO_HOST)
            output_host_dict = [{"buffer": output_host, "size": infer_output_size}]
            result = self.get_result(output_host_dict)
            st = struct.unpack("1000f", bytearray(result[0]))
            vals = np.array(st).flatten()
            top_k = vals.argsort()[-1:-6:-1]
            print("\n===== top5 inference results: =====")
            for n in top_k:
                print("[%d]: %f" % (n, vals[n]))
            ret = acl.rt.free_host(output_host)
self.callback_func = functools.partial(callback_func, self)
def forward(self):
    self.excute_dataset = []
    for idx in range(self.excute_times):
        img_data, infer_output = self.dataset_list.pop(0)
        ret = acl.mdl.execute_async(self.model_id,
                                    img_data,
                                    infer_output,
                                    self.stream)

        if self.is_callback:
            self.excute_dataset.append([img_data, infer_output])
            self._get_callback(idx)
forward(self)
ret = acl.rt.synchronize_stream(self.stream)
ret = acl.rt.unsubscribe_report(tid, self.stream)
self.is_exist = True
ret = acl.util.stop_thread(tid)

self.release()
ret = acl.rt.destroy_stream(self.stream)
ret = acl.rt.destroy_context(self.context)
ret = acl.rt.reset_device(self.device_id)

ret = acl.finalize()
"""


def dataset_of(*buffers):
    """A dataset over new device memory, filled with `buffers` (bytes, or a size to leave empty)."""
    dataset = acl.mdl.create_dataset()
    for data in buffers:
        size = data if isinstance(data, int) else len(data)
        memory, ret = acl.rt.malloc(size, 0)
        assert ret == 0
        if not isinstance(data, int):
            write_bytes(acl, memory, data)
        _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory, size))
        assert ret == 0
    return dataset


def destroy(dataset):
    for i in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, i)
        assert acl.rt.free(acl.get_data_buffer_addr(buffer)) == 0
        assert acl.destroy_data_buffer(buffer) == 0
    assert acl.mdl.destroy_dataset(dataset) == 0


def first_output(dataset):
    address = acl.get_data_buffer_addr(acl.mdl.get_dataset_buffer(dataset, 0))
    return np.frombuffer(read_bytes(acl, address, 4000), np.float32)


class Net(SimpleNamespace):
    """What the sample's class has besides the block: its settings and the small methods."""

    def _load_input_data(self, image):
        self.made.append(dataset_of(image.tobytes()))
        return self.made[-1]

    def _load_output_data(self):
        size = acl.mdl.get_output_size_by_index(self.model_desc, 0)
        self.made.append(dataset_of(size))
        return self.made[-1]

    def _process_callback(self, arguments):
        context, timeout = arguments
        acl.rt.set_context(context)
        while not self.is_exist:
            acl.rt.process_report(timeout)

    def _get_callback(self, idx):
        if (idx + 1) % self.callback_interval == 0:
            assert acl.rt.launch_callback(self.callback_func, self.excute_dataset, 1,
                                          self.stream) == 0
            self.excute_dataset = []

    def get_result(self, outputs):
        return [np.frombuffer(acl.util.ptr_to_bytes(item["buffer"], item["size"]), np.byte)
                for item in outputs]

    def release(self):
        for dataset in self.made:
            destroy(dataset)
        assert acl.mdl.destroy_desc(self.model_desc) == acl.mdl.unload(self.model_id) == 0


def write_bin(path):
    """The sample's transfer_pic: writes the picture as 224x224 input beside it."""
    from PIL import Image
    with Image.open(path) as file:
        image = np.array(file.resize((224, 224))).astype(np.float32) / 255
    image.transpose((2, 0, 1)).tofile(path.replace(".jpg", ".bin"))


@block("7.5.2", "IMG_EXT = ['.jpg', '.JPG', '.png', '.PNG', '.bmp', '.BMP', '.jpeg', '.JPEG']")
@block("7.5.2", "import acl",
       slips=["os, numpy and struct are not imported; args and transfer_pic are left to the sample",
              "_data_interaction and forward are defined but not called",
              "acl.rt.reset_device(self.model_id) has to name the device",
              "the datasets, the description and the model are never released",
              "the sample's small methods (_load_input_data and others) are not printed"])
def test_7_5_2_asynchronous_inference_with_callbacks(first_app, tmp_path, capsys):
    shutil.copytree(first_app / "data", tmp_path / "images")
    net = Net(device_id=0, model_path=str(first_app / "model" / "resnet50.om"), memory_pool=10,
              excute_times=10, callback_interval=1, is_callback=True, is_exist=False,
              dataset_list=[], made=[])
    names = run_block(PROGRAM, self=net, args=SimpleNamespace(images_path=str(tmp_path / "images")),
                      IMG_EXT=IMG_EXT, transfer_pic=write_bin, os=os, np=np, struct=struct,
                      functools=functools, ACL_MEMCPY_DEVICE_TO_HOST=2)
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines.count("===== top5 inference results: =====") == 10, "one callback per execution"
    expected = []
    for data in names["data_list"]:
        image = data.view(np.float32).reshape(1, 3, 224, 224)
        scores = expected_scores(first_app / "model" / "resnet50.onnx", image)[0]
        expected.append([f"[{i}]" for i in scores.argsort()[-1:-6:-1]])
    for turn in range(10):
        printed = [line.split(":")[0] for line in lines[6 * turn + 1:6 * turn + 6]]
        assert printed == expected[turn % 2], "in the order of the executions"


@block("7.8.4", "import acl",
       slips=["model_id_1 = 0 and model_id_2 = 1: the ids are those that loading gave",
              "the datasets are not defined"])
def test_7_8_4_one_thread_two_streams(first_app):
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    path = str(first_app / "model" / "resnet50.om")
    models = [acl.mdl.load_from_file(path)[0] for _ in range(2)]
    images = [np.full((1, 3, 224, 224), value, np.float32) for value in (0.25, -1)]
    inputs = [dataset_of(image.tobytes()) for image in images]
    outputs = [dataset_of(4000) for _ in range(2)]
    run_block("""
        import acl

        device_id = 0
        context, ret = acl.rt.create_context(device_id)

        stream1, ret = acl.rt.create_stream()
        ret = acl.mdl.execute_async(model_id_1, dataset_in_1, dataset_out_1, stream1)

        stream2, ret = acl.rt.create_stream()
        ret = acl.mdl.execute_async(model_id_2, dataset_in_2, dataset_out_2, stream2)

        ret = acl.rt.synchronize_stream(stream1)
        ret = acl.rt.synchronize_stream(stream2)

        ret = acl.rt.destroy_stream(stream2)
        ret = acl.rt.destroy_stream(stream1)
        ret = acl.rt.destroy_context(context)
        """, model_id_1=models[0], model_id_2=models[1], dataset_in_1=inputs[0],
        dataset_in_2=inputs[1], dataset_out_1=outputs[0], dataset_out_2=outputs[1])
    assert acl.rt.set_device(0) == 0
    for image, output in zip(images, outputs):
        expected = expected_scores(first_app / "model" / "resnet50.onnx", image)[0]
        np.testing.assert_allclose(first_output(output), expected, rtol=1e-4, atol=1e-5)
    for dataset in inputs + outputs:
        destroy(dataset)
    for model in models:
        assert acl.mdl.unload(model) == 0
    assert acl.finalize() == 0
