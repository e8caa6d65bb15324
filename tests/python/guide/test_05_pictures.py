# SPDX-License-Identifier: Apache-2.0
"""Guide 5.3.2: scaling, cropping, pasting and converting pictures, first version of the
interface."""
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from blocks import block, read_bytes, run_block, write_bytes

import acl

W, H = 128, 96
SIZE = W * H * 3 // 2
NAMES = {"acl": acl, "np": np, "w": W, "h": H}


def halved(picture, width=None, height=None):
    """As the chip of the tests scales by default: bilinear (docs/media.md)."""
    rows, columns = picture.shape
    return cv2.resize(picture, (width or columns // 2, height or rows // 2))


def near(got, wanted):
    return np.abs(got.astype(int) - wanted).max() <= 1


START = """
    ret = acl.init()
    self.device_id = 0
    ret = acl.rt.set_device(self.device_id)
    self.context, ret = acl.rt.create_context(self.device_id)
    self.stream, ret = acl.rt.create_stream()
    """
CHANNEL = """
    self.dvpp_channel_desc = acl.media.dvpp_create_channel_desc()
    ret = acl.media.dvpp_create_channel(self.dvpp_channel_desc)
    """
END = """
    ret = acl.rt.destroy_stream(self.stream)
    ret = acl.rt.destroy_context(self.context)
    ret = acl.rt.reset_device(self.device_id)
    ret = acl.finalize()
    """
FREE = """
    for key in self.dev_buffer.keys():
        if self.dev_buffer[key]:
            ret = acl.media.dvpp_free(self.dev_buffer[key])
    if self.dvpp_channel_desc:
        ret = acl.media.dvpp_destroy_channel(self.dvpp_channel_desc)
        assert ret == 0
        ret = acl.media.dvpp_destroy_channel_desc(self.dvpp_channel_desc)
        assert ret == 0
    """
RELEASE = """
    ret = acl.media.dvpp_destroy_pic_desc(self.input_desc)
    ret = acl.media.dvpp_destroy_pic_desc(self.output_desc)
    """ + FREE


def noise(size=SIZE):
    return np.random.RandomState(1).randint(0, 256, size, np.uint8).tobytes()


def plane(data, width=W, height=H):
    """The luma of a picture."""
    return np.frombuffer(data, np.uint8)[:width * height].reshape(height, width)


class Program(SimpleNamespace):
    """What the guide calls self, with the functions that it leaves to its reader."""

    def __init__(self, **values):
        super().__init__(dev_buffer={}, **values)

    def set_picture_desc(self, desc, width, height, key, index):
        wstride, hstride = (width + 15) // 16 * 16, (height + 1) // 2 * 2
        size = wstride * hstride * 3 // 2
        address, ret = acl.media.dvpp_malloc(size)
        assert ret == 0
        self.dev_buffer[f"{key}_{index}"] = address
        write_bytes(acl, address, noise(size) if key == "input" else bytes(size))
        for name, value in (("data", address), ("format", 1), ("width", width), ("height", height),
                            ("width_stride", wstride), ("height_stride", hstride), ("size", size)):
            assert getattr(acl.media, "dvpp_set_pic_desc_" + name)(desc, value) == 0
        return size

    def free_pic_desc(self):
        assert acl.media.dvpp_destroy_batch_pic_desc(self.in_batch_pic_desc) == 0
        assert acl.media.dvpp_destroy_batch_pic_desc(self.out_batch_pic_desc) == 0

    def luma(self, key, width=W, height=H):
        return plane(read_bytes(acl, self.dev_buffer[key], width * height), width, height)


@block("5.3.2", "self.resize_config = acl.media.dvpp_create_resize_config()",
       slips=["`dev_in` and `dev_out` are kept under the name `dev`",
              "w and h stand for the sizes of the input, then of the output",
              "`buffer`, `width`, `wstride`, `size` and their like are not defined",
              "the channel and the resize configuration are not destroyed"])
def test_5_3_2_resize():
    program = Program()
    names = run_block(START + """
    self.resize_config = acl.media.dvpp_create_resize_config()
    """ + CHANNEL + """
    width_stride = ((w + 15) // 16) * 16
    height_stride = ((h + 1) // 2) * 2
    buffer_size = (width_stride * height_stride * 3) // 2
    dev_in, ret = acl.media.dvpp_malloc(buffer_size)
    self.dev_buffer['input_0'] = dev_in
    write_bytes(acl, dev_in, noise())
    self.input_desc = acl.media.dvpp_create_pic_desc()
    ret = acl.media.dvpp_set_pic_desc_data(self.input_desc, dev_in)
    ret = acl.media.dvpp_set_pic_desc_format(self.input_desc, YUV420)
    ret = acl.media.dvpp_set_pic_desc_width(self.input_desc, w)
    ret = acl.media.dvpp_set_pic_desc_height(self.input_desc, h)
    ret = acl.media.dvpp_set_pic_desc_width_stride(self.input_desc, width_stride)
    ret = acl.media.dvpp_set_pic_desc_height_stride(self.input_desc, height_stride)
    ret = acl.media.dvpp_set_pic_desc_size(self.input_desc, buffer_size)

    w, h = w // 2, h // 2
    width_stride = ((w + 15) // 16) * 16
    height_stride = ((h + 1) // 2) * 2
    buffer_size = (width_stride * height_stride * 3) // 2
    dev_out, ret = acl.media.dvpp_malloc(buffer_size)
    self.dev_buffer['output_0'] = dev_out
    self.output_desc = acl.media.dvpp_create_pic_desc()
    ret = acl.media.dvpp_set_pic_desc_data(self.output_desc, dev_out)
    ret = acl.media.dvpp_set_pic_desc_format(self.output_desc, YUV420)
    ret = acl.media.dvpp_set_pic_desc_width(self.output_desc, w)
    ret = acl.media.dvpp_set_pic_desc_height(self.output_desc, h)
    ret = acl.media.dvpp_set_pic_desc_width_stride(self.output_desc, width_stride)
    ret = acl.media.dvpp_set_pic_desc_height_stride(self.output_desc, height_stride)
    ret = acl.media.dvpp_set_pic_desc_size(self.output_desc, buffer_size)

    ret = acl.media.dvpp_vpc_resize_async(self.dvpp_channel_desc, self.input_desc,
                                          self.output_desc, self.resize_config,
                                          self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    """, self=program, write_bytes=write_bytes, noise=noise, YUV420=1, **NAMES)
    got = program.luma("output_0", W // 2, H // 2)
    assert near(got, halved(plane(noise())))
    run_block("""
    ret = acl.media.dvpp_destroy_pic_desc(self.output_desc)
    ret = acl.media.dvpp_destroy_pic_desc(self.input_desc)
    ret = acl.media.dvpp_free(self.dev_buffer['input_0'])
    ret = acl.media.dvpp_free(self.dev_buffer['output_0'])
    """ + END, **names)


@block("5.3.2", "PIXEL_FORMAT_YUV_400 = 0",
       slips=["the stream, context and device are called self.stream, ... at the end",
              "the channel is not destroyed"])
def test_5_3_2_convert_color(tmp_path):
    (tmp_path / "picture.yuv").write_bytes(noise())
    names = run_block("""
    ACL_MEMCPY_HOST_TO_DEVICE = 1
    ACL_MEMCPY_DEVICE_TO_HOST = 2
    PIXEL_FORMAT_YUV_400 = 0
    PIXEL_FORMAT_YUV_SEMIPLANAR_420 = 1

    ret = acl.init()

    device_id = 0
    ret = acl.rt.set_device(device_id)
    context, ret = acl.rt.create_context(device_id)
    stream, ret = acl.rt.create_stream()

    dvpp_channel_desc = acl.media.dvpp_create_channel_desc()

    ret = acl.media.dvpp_create_channel(dvpp_channel_desc)

    input_width_stride = ((input_width + 15) // 16) * 16
    input_height_stride = ((input_height + 1) // 2) * 2
    in_buffer_size = (input_width_stride * input_height_stride * 3) // 2
    in_dev_buffer, ret = acl.media.dvpp_malloc(in_buffer_size)
    np_yuv = np.fromfile(path, dtype=np.byte)
    buffer_size = np_yuv.itemsize * np_yuv.size
    bytes_data = np_yuv.tobytes()

    np_yuv_ptr = acl.util.bytes_to_ptr(bytes_data)
    ret = acl.rt.memcpy(in_dev_buffer, buffer_size, np_yuv_ptr,
                        buffer_size, ACL_MEMCPY_HOST_TO_DEVICE)

    output_width_stride = ((output_width + 15) // 16) * 16
    output_height_stride = ((output_height + 1) // 2) * 2
    out_buffer_size = (output_width_stride * output_height_stride * 3) // 2
    out_dev_buffer, ret = acl.media.dvpp_malloc(out_buffer_size)

    input_desc = acl.media.dvpp_create_pic_desc()
    ret = acl.media.dvpp_set_pic_desc_data(input_desc, in_dev_buffer)
    ret = acl.media.dvpp_set_pic_desc_format(input_desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420)
    ret = acl.media.dvpp_set_pic_desc_width(input_desc, input_width)
    ret = acl.media.dvpp_set_pic_desc_height(input_desc, input_height)
    ret = acl.media.dvpp_set_pic_desc_width_stride(input_desc, input_width_stride)
    ret = acl.media.dvpp_set_pic_desc_height_stride(input_desc, input_height_stride)
    ret = acl.media.dvpp_set_pic_desc_size(input_desc, in_buffer_size)

    output_desc = acl.media.dvpp_create_pic_desc()
    ret = acl.media.dvpp_set_pic_desc_data(output_desc, out_dev_buffer)
    ret = acl.media.dvpp_set_pic_desc_format(output_desc, PIXEL_FORMAT_YUV_400)
    ret = acl.media.dvpp_set_pic_desc_width(output_desc, output_width)
    ret = acl.media.dvpp_set_pic_desc_height(output_desc, output_height)
    ret = acl.media.dvpp_set_pic_desc_width_stride(output_desc, output_width_stride)
    ret = acl.media.dvpp_set_pic_desc_height_stride(output_desc, output_height_stride)
    ret = acl.media.dvpp_set_pic_desc_size(output_desc, out_buffer_size)

    ret = acl.media.dvpp_vpc_convert_color_async(dvpp_channel_desc, input_desc,
                                                 output_desc, stream)
    ret = acl.rt.synchronize_stream(stream)

    ret = acl.media.dvpp_destroy_pic_desc(input_desc)
    ret = acl.media.dvpp_destroy_pic_desc(output_desc)

    np_output = np.zeros(out_buffer_size, dtype=np.byte)
    bytes_data = np_output.tobytes()
    np_output_ptr = acl.util.bytes_to_ptr(bytes_data)
    ret = acl.rt.memcpy(np_output_ptr, out_buffer_size, out_dev_buffer,
                        out_buffer_size, ACL_MEMCPY_DEVICE_TO_HOST)
    ret = acl.media.dvpp_free(in_dev_buffer)
    ret = acl.media.dvpp_free(out_dev_buffer)

    ret = acl.rt.destroy_stream(stream)
    ret = acl.rt.destroy_context(context)
    ret = acl.rt.reset_device(device_id)
    ret = acl.finalize()
    """, path=str(tmp_path / "picture.yuv"), input_width=W, input_height=H, output_width=W,
        output_height=H, **NAMES)
    assert np.array_equal(plane(names["bytes_data"]), plane(noise()))


# The three blocks that differ in their areas and in the call alone: what stands between the start
# and the channel, the size of the output, the call, and what the luma of the output has to be.
CROPS = {
    "crop": ("""
    self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    """, """
    out_buffer_size = self.set_picture_desc(self.output_desc, w // 2, h // 2, "output", 0)
    ret = acl.media.dvpp_vpc_crop_async(self.dvpp_channel_desc, self.input_desc,
                                        self.output_desc, self.crop_area, self.stream)
    """, lambda luma: luma[H // 2:, W // 2:]),
    "crop_resize": ("""
    self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    """, """
    resize_width = w // 4
    resize_height = h // 4
    out_buffer_size = self.set_picture_desc(self.output_desc, resize_width, resize_height,
                                            "output", 0)
    self.resize_config = acl.media.dvpp_create_resize_config()
    ret = acl.media.dvpp_vpc_crop_resize_async(self.dvpp_channel_desc, self.input_desc,
                                               self.output_desc, self.crop_area,
                                               self.resize_config, self.stream)
    """, lambda luma: halved(luma[H // 2:, W // 2:])),
    "crop_and_paste": ("""
    self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    self.paste_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    """, """
    out_buffer_size = self.set_picture_desc(self.output_desc, w, h, "output", 0)
    ret = acl.media.dvpp_vpc_crop_and_paste_async(self.dvpp_channel_desc,
                                                  self.input_desc, self.output_desc,
                                                  self.crop_area, self.paste_area,
                                                  self.stream)
    """, lambda luma: np.pad(luma[H // 2:, W // 2:], ((H // 2, 0), (W // 2, 0)))),
}


@block("5.3.2", "self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)",
       note="three blocks: crop, crop and resize, crop and paste")
@pytest.mark.parametrize("name", list(CROPS))
def test_5_3_2_crops(name):
    areas, call, expected = CROPS[name]
    program = Program()
    names = run_block(START + areas + CHANNEL + """
    self.input_desc = acl.media.dvpp_create_pic_desc()
    assert self.input_desc is not None
    self.set_picture_desc(self.input_desc, w, h, "input", 0)

    self.output_desc = acl.media.dvpp_create_pic_desc()
    assert self.output_desc is not None
    """ + call + """
    ret = acl.rt.synchronize_stream(self.stream)
    """, self=program, **NAMES)
    wanted = expected(plane(noise()))
    assert near(program.luma("output_0", *wanted.shape[::-1]), wanted)
    run_block(RELEASE + END, **names)


@block("5.3.2", "self.output_desc = acl.media.dvpp_create_pic_desc()",
       note="crop, resize and paste")
def test_5_3_2_crop_resize_paste(tmp_path):
    (tmp_path / "picture.yuv").write_bytes(noise()[::-1])
    names = run_block(START + CHANNEL + """
    self.output_desc = acl.media.dvpp_create_pic_desc()
    assert self.output_desc is not None
    out_buffer_size = self.set_picture_desc(self.output_desc, w // 2, h // 2, "output", 0)

    self.input_desc = acl.media.dvpp_create_pic_desc()
    assert self.input_desc is not None
    self.set_picture_desc(self.input_desc, w, h, "input", 0)

    np_yuv = np.fromfile(path, dtype=np.byte)
    in_buffer_size = np_yuv.itemsize * np_yuv.size
    bytes_data = np_yuv.tobytes()
    np_yuv_ptr = acl.util.bytes_to_ptr(bytes_data)
    ret = acl.rt.memcpy(self.dev_buffer["input_0"], in_buffer_size, np_yuv_ptr,
                        in_buffer_size, ACL_MEMCPY_HOST_TO_DEVICE)
    assert ret == 0

    self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    self.paste_area = acl.media.dvpp_create_roi_config(w // 4, w // 2 - 1, h // 4, h // 2 - 1)

    self.resize_config = acl.media.dvpp_create_resize_config()
    ret = acl.media.dvpp_vpc_crop_resize_paste_async(self.dvpp_channel_desc,
                                                     self.input_desc, self.output_desc,
                                                     self.crop_area, self.paste_area,
                                                     self.resize_config, self.stream)
    assert ret == 0
    ret = acl.rt.synchronize_stream(self.stream)
    assert ret == 0

    np_output = np.zeros(out_buffer_size, dtype=np.byte)
    bytes_data = np_output.tobytes()
    np_output_ptr = acl.util.bytes_to_ptr(bytes_data)
    ret = acl.rt.memcpy(np_output_ptr, out_buffer_size, self.dev_buffer["output_0"],
                        out_buffer_size, ACL_MEMCPY_DEVICE_TO_HOST)
    assert ret == 0
    """ + RELEASE + END, self=Program(), path=str(tmp_path / "picture.yuv"),
        ACL_MEMCPY_HOST_TO_DEVICE=1, ACL_MEMCPY_DEVICE_TO_HOST=2, **NAMES)
    got = plane(names["bytes_data"], W // 2, H // 2)
    quarter = halved(plane(noise()[::-1])[H // 2:, W // 2:])
    assert near(got, np.pad(quarter, ((H // 4, 0), (W // 4, 0))))


@block("5.3.2",
       "self.out_batch_pic_desc = acl.media.dvpp_create_batch_pic_desc(self.out_batch_size)",
       slips=["`in_buffer_size`, `np_yuv_ptr` and the lists are taken from elsewhere"])
def test_5_3_2_batch_crop_and_paste():
    program = Program(in_batch_size=2, out_batch_size=5, cropList=[], pasteList=[])
    source = noise()[::-1]
    names = run_block(START + """
    self.out_batch_pic_desc = acl.media.dvpp_create_batch_pic_desc(self.out_batch_size)
    self.in_batch_pic_desc = acl.media.dvpp_create_batch_pic_desc(self.in_batch_size)
    for i in range(self.in_batch_size):
        input_desc = acl.media.dvpp_get_pic_desc(self.in_batch_pic_desc, i)
        assert input_desc is not None
        self.set_picture_desc(input_desc, w, h, "input", i)
        key = "input" + '_' + str(i)
        ret = acl.rt.memcpy(self.dev_buffer[key], in_buffer_size, np_yuv_ptr,
                            in_buffer_size, 1)
        assert ret == 0
        roiList.append(self.out_batch_size // self.in_batch_size)
    for i in range(self.out_batch_size):
        output_desc = acl.media.dvpp_get_pic_desc(self.out_batch_pic_desc, i)
        assert output_desc is not None
        self.set_picture_desc(output_desc, w, h, "output", i)
        if i == 0:
            crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
        else:
            crop_area = acl.media.dvpp_create_roi_config(0, w - 1, h // 2, h - 1)
        paste_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
        self.cropList.append(crop_area)
        self.pasteList.append(paste_area)
    total_num = 0
    for i in range(self.in_batch_size):
        total_num += roiList[i]
    if self.out_batch_size % self.in_batch_size != 0:
        roiList[-1] = self.out_batch_size - total_num + roiList[-1]
    """ + CHANNEL + """
    _, ret = acl.media.dvpp_vpc_batch_crop_and_paste_async(
        self.dvpp_channel_desc, self.in_batch_pic_desc, roiList, self.out_batch_pic_desc,
        self.cropList, self.pasteList, self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    """, self=program, roiList=[], in_buffer_size=SIZE, np_yuv_ptr=acl.util.bytes_to_ptr(source),
        **NAMES)
    assert names["roiList"] == [2, 3], "what is left over goes to the last picture"
    lower = plane(source)[H // 2:]
    for i in range(5):
        wanted = lower[:, W // 2:] if i == 0 else halved(lower, height=H // 2)
        got = program.luma(f"output_{i}")
        assert near(got, np.pad(wanted, ((H // 2, 0), (W // 2, 0)))), i
    run_block("""
    self.free_pic_desc()
    for i in range(len(self.cropList)):
        ret = acl.media.dvpp_destroy_roi_config(self.cropList[i])
        assert ret == 0
    for i in range(len(self.pasteList)):
        ret = acl.media.dvpp_destroy_roi_config(self.pasteList[i])
        assert ret == 0
    """ + FREE + END, **names)
