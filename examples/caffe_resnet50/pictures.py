# SPDX-License-Identifier: Apache-2.0
"""What both programs need: pictures as the net wants them, datasets, checked calls, results."""
import os

import numpy as np
from PIL import Image

import acl

MALLOC_HUGE_FIRST = 0
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp")
MEAN_BGR = (104.0, 117.0, 123.0)
SIDE = 224


def check(call, ret):
    if ret != 0:
        raise SystemExit(f"{call} failed with {ret}: {acl.get_recent_err_msg()}")


def checked(call, result):
    """The values of a call without its code, which must be 0."""
    check(call, result[-1])
    return result[0] if len(result) == 2 else result[:-1]


def list_pictures(folder):
    here = os.listdir(folder) if os.path.isdir(folder) else []
    names = sorted(n for n in here if n.lower().endswith(EXTENSIONS))
    if not names:
        raise SystemExit(f"no pictures in {folder}; expected files ending in {EXTENSIONS}")
    return [f"{folder.rstrip('/')}/{name}" for name in names]


def read_picture(path):
    """1x3x224x224 of float16: the middle of the picture, blue first, less the mean."""
    with Image.open(path) as picture:
        rgb = picture.convert("RGB")
    scale = 256 / min(rgb.size)
    rgb = rgb.resize([max(256, round(extent * scale)) for extent in rgb.size])
    left, top = (rgb.width - SIDE) // 2, (rgb.height - SIDE) // 2
    pixels = np.asarray(rgb.crop((left, top, left + SIDE, top + SIDE)), np.float32)
    bgr = pixels[:, :, ::-1] - np.float32(MEAN_BGR)
    return np.ascontiguousarray(bgr.transpose(2, 0, 1)[None].astype(np.float16))


def make_dataset(sizes):
    dataset = acl.mdl.create_dataset()
    for size in sizes:
        memory = checked("acl.rt.malloc", acl.rt.malloc(size, MALLOC_HUGE_FIRST))
        buffer = acl.create_data_buffer(memory, size)
        checked("acl.mdl.add_dataset_buffer", acl.mdl.add_dataset_buffer(dataset, buffer))
    return dataset


def buffers(dataset):
    """(address, bytes) of each buffer."""
    for i in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, i)
        yield acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size(buffer)


def destroy_dataset(dataset):
    for i in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, i)
        check("acl.rt.free", acl.rt.free(acl.get_data_buffer_addr(buffer)))
        check("acl.destroy_data_buffer", acl.destroy_data_buffer(buffer))
    check("acl.mdl.destroy_dataset", acl.mdl.destroy_dataset(dataset))


def fill(dataset, array):
    (address, size), = buffers(dataset)
    raw = array.tobytes()
    if len(raw) != size:
        raise SystemExit(f"the picture has {len(raw)} bytes, the model takes {size}; convert it "
                         "with --input_fp16_nodes=data")
    check("acl.rt.memcpy", acl.rt.memcpy(address, size, acl.util.bytes_to_ptr(raw), size,
                                         HOST_TO_DEVICE))


def read(dataset):
    """The first output as float32 numbers."""
    address, size = next(buffers(dataset))
    host = checked("acl.rt.malloc_host", acl.rt.malloc_host(size))
    check("acl.rt.memcpy", acl.rt.memcpy(host, size, address, size, DEVICE_TO_HOST))
    values = np.frombuffer(acl.util.ptr_to_bytes(host, size), np.float32).copy()
    check("acl.rt.free_host", acl.rt.free_host(host))
    return values


def print_best(values):
    print("===== top5 inference results: =====")
    for index in np.argsort(values)[-1:-6:-1]:
        print(f"[{index}]: {values[index]:f}")
