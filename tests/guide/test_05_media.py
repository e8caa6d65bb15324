# SPDX-License-Identifier: Apache-2.0
"""Guide 5.3 and 5.4: pictures, files and video, in both versions of the interface."""
import io
from types import SimpleNamespace

import numpy as np
import pytest
from blocks import block, read_bytes, run_block, write_bytes
from PIL import Image

import acl

W, H = 128, 96
SIZE = W * H * 3 // 2
NAMES = {"acl": acl, "np": np, "ACL_HOST": 1, "ACL_MEMCPY_HOST_TO_DEVICE": 1,
         "ACL_MEMCPY_DEVICE_TO_HOST": 2, "ACL_MEMCPY_DEVICE_TO_DEVICE": 3,
         "PIXEL_FORMAT_YUV_SEMIPLANAR_420": 1, "HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420": 1,
         "HI_PIXEL_FORMAT_UNKNOWN": 10000, "HI_PT_JPEG": 26, "HI_PT_PNG": 268, "HI_TRUE": 1,
         "HI_FALSE": 0, "HI_VDEC_SEND_MODE_FRAME": 1, "HI_VENC_PIC_REC_SINGLE": 0}

START = """
    ret = acl.init()
    self.device_id = 0
    ret = acl.rt.set_device(self.device_id)
    self.context, ret = acl.rt.create_context(self.device_id)
    self.stream, ret = acl.rt.create_stream()
    """
END = """
    ret = acl.rt.destroy_stream(self.stream)
    ret = acl.rt.destroy_context(self.context)
    ret = acl.rt.reset_device(self.device_id)
    ret = acl.finalize()
    """
CHANNEL = """
    self.dvpp_channel_desc = acl.media.dvpp_create_channel_desc()
    ret = acl.media.dvpp_create_channel(self.dvpp_channel_desc)
    """
RELEASE = """
    ret = acl.media.dvpp_destroy_pic_desc(self.input_desc)
    ret = acl.media.dvpp_destroy_pic_desc(self.output_desc)
    for key in self.dev_buffer.keys():
        if self.dev_buffer[key]:
            ret = acl.media.dvpp_free(self.dev_buffer[key])
    if self.dvpp_channel_desc:
        ret = acl.media.dvpp_destroy_channel(self.dvpp_channel_desc)
        assert ret == 0
        ret = acl.media.dvpp_destroy_channel_desc(self.dvpp_channel_desc)
        assert ret == 0
    """


def noise(size=SIZE):
    return np.random.RandomState(1).randint(0, 256, size, np.uint8).tobytes()


class Program(SimpleNamespace):
    """What the guide calls self, with the function that its reader writes."""

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

    def luma(self, key, width=W, height=H):
        data = read_bytes(acl, self.dev_buffer[key], width * height)
        return np.frombuffer(data, np.uint8).reshape(height, width)


def run(body, program, **names):
    text = START + CHANNEL + body
    return run_block(text, self=program, w=W, h=H, **{**NAMES, **names})


def finish(program, with_pictures=True):
    run_block((RELEASE if with_pictures else "") + END, self=program, **NAMES)


PICTURES = """
    self.input_desc = acl.media.dvpp_create_pic_desc()
    assert self.input_desc is not None
    self.set_picture_desc(self.input_desc, w, h, "input", 0)
    self.output_desc = acl.media.dvpp_create_pic_desc()
    assert self.output_desc is not None
    """


@block("5.3.2", "self.resize_config = acl.media.dvpp_create_resize_config()",
       slips=["`dev_in` and `dev_out` are kept under the name `dev`"])
def test_resize():
    program = Program()
    run(PICTURES + """
    self.resize_config = acl.media.dvpp_create_resize_config()
    self.set_picture_desc(self.output_desc, w // 2, h // 2, "output", 0)
    ret = acl.media.dvpp_vpc_resize_async(self.dvpp_channel_desc, self.input_desc,
                                          self.output_desc, self.resize_config,
                                          self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    """, program)
    got = program.luma("output_0", W // 2, H // 2)
    assert np.array_equal(got, program.luma("input_0")[::2, ::2])
    finish(program)


@block("5.3.2", "PIXEL_FORMAT_YUV_400 = 0")
def test_convert_color():
    program = Program()
    run(PICTURES + """
    PIXEL_FORMAT_YUV_400 = 0
    self.set_picture_desc(self.output_desc, w, h, "output", 0)
    ret = acl.media.dvpp_set_pic_desc_format(self.output_desc, PIXEL_FORMAT_YUV_400)
    ret = acl.media.dvpp_vpc_convert_color_async(self.dvpp_channel_desc, self.input_desc,
                                                 self.output_desc, self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    """, program)
    assert np.array_equal(program.luma("output_0"), program.luma("input_0"))
    finish(program)


CROPS = {
    "crop": """
    self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    out_buffer_size = self.set_picture_desc(self.output_desc, w // 2, h // 2, "output", 0)
    ret = acl.media.dvpp_vpc_crop_async(self.dvpp_channel_desc, self.input_desc,
                                        self.output_desc, self.crop_area, self.stream)
    """,
    "crop_resize": """
    self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    resize_width = w // 4
    resize_height = h // 4
    out_buffer_size = self.set_picture_desc(self.output_desc, resize_width, resize_height,
                                            "output", 0)
    self.resize_config = acl.media.dvpp_create_resize_config()
    ret = acl.media.dvpp_vpc_crop_resize_async(self.dvpp_channel_desc, self.input_desc,
                                               self.output_desc, self.crop_area,
                                               self.resize_config, self.stream)
    """,
    "crop_and_paste": """
    self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    self.paste_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    out_buffer_size = self.set_picture_desc(self.output_desc, w, h, "output", 0)
    ret = acl.media.dvpp_vpc_crop_and_paste_async(self.dvpp_channel_desc,
                                                  self.input_desc, self.output_desc,
                                                  self.crop_area, self.paste_area,
                                                  self.stream)
    """,
    "crop_resize_paste": """
    out_buffer_size = self.set_picture_desc(self.output_desc, w // 2, h // 2, "output", 0)
    self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)
    self.paste_area = acl.media.dvpp_create_roi_config(w // 4, w // 2 - 1, h // 4, h // 2 - 1)
    self.resize_config = acl.media.dvpp_create_resize_config()
    ret = acl.media.dvpp_vpc_crop_resize_paste_async(self.dvpp_channel_desc,
                                                     self.input_desc, self.output_desc,
                                                     self.crop_area, self.paste_area,
                                                     self.resize_config, self.stream)
    """,
}


@block("5.3.2", "self.crop_area = acl.media.dvpp_create_roi_config(w // 2, w - 1, h // 2, h - 1)",
       note="four blocks: crop, crop and resize, crop and paste, crop, resize and paste")
@pytest.mark.parametrize("name", list(CROPS))
def test_crops(name):
    program = Program()
    run(PICTURES + CROPS[name] + """
    ret = acl.rt.synchronize_stream(self.stream)
    """, program)
    quarter = program.luma("input_0")[H // 2:, W // 2:]
    if name == "crop":
        assert np.array_equal(program.luma("output_0", W // 2, H // 2), quarter)
    elif name == "crop_resize":
        assert np.array_equal(program.luma("output_0", W // 4, H // 4), quarter[::2, ::2])
    elif name == "crop_and_paste":
        assert np.array_equal(program.luma("output_0")[H // 2:, W // 2:], quarter)
        assert not program.luma("output_0")[:H // 2].any()
    else:
        got = program.luma("output_0", W // 2, H // 2)
        assert np.array_equal(got[H // 4:, W // 4:], quarter[::2, ::2]) and not got[:H // 4].any()
    finish(program)


@block("5.3.2",
       "self.out_batch_pic_desc = acl.media.dvpp_create_batch_pic_desc(self.out_batch_size)",
       slips=["`in_buffer_size`, `np_yuv_ptr` and the lists are taken from elsewhere"])
def test_batch_crop_and_paste():
    program = Program(in_batch_size=2, out_batch_size=5, cropList=[], pasteList=[])
    run("""
    self.out_batch_pic_desc = acl.media.dvpp_create_batch_pic_desc(self.out_batch_size)
    self.in_batch_pic_desc = acl.media.dvpp_create_batch_pic_desc(self.in_batch_size)
    for i in range(self.in_batch_size):
        input_desc = acl.media.dvpp_get_pic_desc(self.in_batch_pic_desc, i)
        assert input_desc is not None
        self.set_picture_desc(input_desc, w, h, "input", i)
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
    _, ret = acl.media.dvpp_vpc_batch_crop_and_paste_async(
        self.dvpp_channel_desc, self.in_batch_pic_desc, roiList, self.out_batch_pic_desc,
        self.cropList, self.pasteList, self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    for i in range(len(self.cropList)):
        ret = acl.media.dvpp_destroy_roi_config(self.cropList[i])
        assert ret == 0
    ret = acl.media.dvpp_destroy_channel(self.dvpp_channel_desc)
    ret = acl.media.dvpp_destroy_channel_desc(self.dvpp_channel_desc)
    """, program, roiList=[])
    quarter = program.luma("input_0")[H // 2:, W // 2:]
    assert np.array_equal(program.luma("output_0")[H // 2:, W // 2:], quarter)
    assert program.luma("output_4")[H // 2:, W // 2:].any()
    finish(program, with_pictures=False)


def picture_file(path, kind):
    y, x = np.mgrid[0:H, 0:W]
    image = Image.fromarray(np.stack([x, y, x + y], -1).astype(np.uint8))
    image.save(path, kind)
    return image


@block("5.3.3", "np_jpg = np.fromfile(self.path, dtype=np.byte)")
def test_jpeg_decode(tmp_path):
    picture_file(tmp_path / "a.jpg", "JPEG")
    program = Program(path=str(tmp_path / "a.jpg"))
    run("""
    np_jpg = np.fromfile(self.path, dtype=np.byte)
    self.in_buffer_size = np_jpg.itemsize * np_jpg.size
    bytes_data = np_jpg.tobytes()
    np_jpg_ptr = acl.util.bytes_to_ptr(bytes_data)
    self.in_buffer_dev, ret = acl.media.dvpp_malloc(self.in_buffer_size)
    ret = acl.rt.memcpy(self.in_buffer_dev, self.in_buffer_size, np_jpg_ptr,
                        self.in_buffer_size, 1)
    height_stride = ((h + 1) // 2) * 2
    width_stride = ((w + 15) // 16) * 16
    self.out_buffer_size = (width_stride * height_stride * 3) // 2
    self.out_buffer_dev, ret = acl.media.dvpp_malloc(self.out_buffer_size)
    self.pic_desc = acl.media.dvpp_create_pic_desc()
    ret = acl.media.dvpp_set_pic_desc_data(self.pic_desc, self.out_buffer_dev)
    ret = acl.media.dvpp_set_pic_desc_size(self.pic_desc, self.out_buffer_size)
    ret = acl.media.dvpp_set_pic_desc_format(
        self.pic_desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420)
    ret = acl.media.dvpp_set_pic_desc_width(self.pic_desc, w)
    ret = acl.media.dvpp_set_pic_desc_height(self.pic_desc, h)
    ret = acl.media.dvpp_set_pic_desc_width_stride(self.pic_desc, width_stride)
    ret = acl.media.dvpp_set_pic_desc_height_stride(self.pic_desc, height_stride)
    ret = acl.media.dvpp_jpeg_decode_async(self.dvpp_channel_desc,
                                           self.in_buffer_dev,
                                           self.in_buffer_size,
                                           self.pic_desc, self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    """, program)
    image = Image.open(tmp_path / "a.jpg")
    image.draft("YCbCr", image.size)
    got = np.frombuffer(read_bytes(acl, program.out_buffer_dev, W * H), np.uint8).reshape(H, W)
    assert np.array_equal(got, np.asarray(image)[..., 0])
    finish(program, with_pictures=False)


@block("5.3.4", "self.jpege_config = acl.media.dvpp_create_jpege_config()",
       slips=["`np_out_size` is read where the real length is in `bytes_data`",
              "`size` is used before it is set"])
def test_jpeg_encode():
    program = Program()
    names = run(PICTURES + """
    self.set_picture_desc(self.output_desc, w, h, "output", 0)
    self.jpege_config = acl.media.dvpp_create_jpege_config()
    ret = acl.media.dvpp_set_jpege_config_level(self.jpege_config, 100)
    self.out_buffer_size, ret = acl.media.dvpp_jpeg_predict_enc_size(
        self.input_desc, self.jpege_config)
    self.out_buffer_dev, ret = acl.media.dvpp_malloc(self.out_buffer_size)
    acl.rt.set_context(self.context)
    np_out_size = np.array([self.out_buffer_size], dtype=np.int32)
    bytes_data = np_out_size.tobytes()
    np_out_size_ptr = acl.util.bytes_to_ptr(bytes_data)
    ret = acl.media.dvpp_jpeg_encode_async(self.dvpp_channel_desc, self.input_desc,
                                           self.out_buffer_dev, np_out_size_ptr,
                                           self.jpege_config, self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    """, program)
    size = int(np.frombuffer(names["bytes_data"], np.int32)[0])
    image = Image.open(io.BytesIO(read_bytes(acl, program.out_buffer_dev, size)))
    assert image.size == (W, H)
    finish(program)


@block("5.3.5", 'pic_name = "../data/test_png_dec.png"')
def test_png_decode(tmp_path):
    image = picture_file(tmp_path / "a.png", "PNG")
    names = run("""
    np_png = np.fromfile(pic_name, dtype=np.byte)
    in_buffer_size = np_png.itemsize * np_png.size
    bytes_data = np_png.tobytes()
    np_png_ptr = acl.util.bytes_to_ptr(bytes_data)
    in_dev_buffer, ret = acl.media.dvpp_malloc(in_buffer_size)
    ret = acl.rt.memcpy(in_dev_buffer, in_buffer_size, np_png_ptr, in_buffer_size,
                        ACL_MEMCPY_HOST_TO_DEVICE)
    PIXEL_FORMAT_RGB_888 = 12
    out_buffer_size, ret = acl.media.dvpp_png_predict_dec_size(np_png_ptr, in_buffer_size,
                                                               PIXEL_FORMAT_RGB_888)
    out_dev_buffer, ret = acl.media.dvpp_malloc(out_buffer_size)
    output_desc = acl.media.dvpp_create_pic_desc()
    width, height, components, ret = acl.media.dvpp_png_get_image_info(np_png_ptr, in_buffer_size)
    ret = acl.media.dvpp_set_pic_desc_data(output_desc, out_dev_buffer)
    ret = acl.media.dvpp_set_pic_desc_size(output_desc, out_buffer_size)
    ret = acl.media.dvpp_set_pic_desc_format(output_desc, PIXEL_FORMAT_RGB_888)
    ret = acl.media.dvpp_png_decode_async(self.dvpp_channel_desc, in_dev_buffer, in_buffer_size,
                                          output_desc, self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    """, (program := Program()), pic_name=str(tmp_path / "a.png"))
    assert (names["width"], names["height"], names["components"]) == (W, H, 3)
    rows = np.frombuffer(read_bytes(acl, names["out_dev_buffer"], W * H * 3), np.uint8)
    assert np.array_equal(rows.reshape(H, W, 3), np.asarray(image))
    finish(program, with_pictures=False)


@block("5.3.7", "ACL_VENC_THREAD_ID_UINT64 = 0",
       note="the callback is kept; what a channel then does is in tests/python/test_media_video.py")
def test_parameters_of_an_encoder_by_number():
    program = Program(callback_func=lambda *args: None)
    run("""
    self.venc_channel_desc = acl.media.venc_create_channel_desc()
    ACL_VENC_CALLBACK_PTR = 1
    ACL_VENC_PIXEL_FORMAT_UINT32 = 2
    ACL_VENC_PIC_WIDTH_UINT32 = 4
    ret = acl.media.venc_set_channel_desc_param(self.venc_channel_desc, ACL_VENC_CALLBACK_PTR,
                                                self.callback_func)
    get_cb_func, ret = acl.media.venc_get_channel_desc_param(self.venc_channel_desc,
                                                             ACL_VENC_CALLBACK_PTR)
    assert get_cb_func is self.callback_func
    ret = acl.media.venc_set_channel_desc_param(self.venc_channel_desc,
                                                ACL_VENC_PIXEL_FORMAT_UINT32,
                                                PIXEL_FORMAT_YUV_SEMIPLANAR_420)
    get_pic_format, ret = acl.media.venc_get_channel_desc_param(self.venc_channel_desc,
                                                                ACL_VENC_PIXEL_FORMAT_UINT32)
    assert get_pic_format == PIXEL_FORMAT_YUV_SEMIPLANAR_420
    width = 128
    ret = acl.media.venc_set_channel_desc_param(self.venc_channel_desc,
                                                ACL_VENC_PIC_WIDTH_UINT32, width)
    get_width, ret = acl.media.venc_get_channel_desc_param(self.venc_channel_desc,
                                                           ACL_VENC_PIC_WIDTH_UINT32)
    assert get_width == width
    """, program)
    finish(program, with_pictures=False)


@block("5.4.2", "chn_attr = {'attr': 0, 'pic_width': 0, 'pic_height': 0}",
       slips=["the result of vpc_resize is called testid, then task_id"])
def test_second_version_resize_and_crop():
    names = run_block("""
    run_mode, ret = acl.rt.get_run_mode()
    ret = acl.init()
    ret = acl.rt.set_device(0)
    context, ret = acl.rt.create_context(0)
    ret = acl.himpi.sys_init()
    channel_id = 0
    chn_attr = {'attr': 0, 'pic_width': 0, 'pic_height': 0}
    ret = acl.himpi.vpc_create_chn(channel_id, chn_attr)
    input_pic = {'picture_width': 1920,
                 'picture_height': 1080,
                 'picture_width_stride': 1920,
                 'picture_height_stride': 1080,
                 'picture_format': HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420}
    input_pic["picture_buffer_size"] = input_pic["picture_width_stride"] * input_pic[
        "picture_height_stride"] * 3 // 2
    picture_address, ret = acl.himpi.dvpp_malloc(0, input_pic["picture_buffer_size"])
    input_pic["picture_address"] = picture_address
    output_pic = {'picture_width': 960,
                  'picture_height': 540,
                  'picture_width_stride': 960,
                  'picture_height_stride': 540,
                  'picture_format': HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420}
    output_pic["picture_buffer_size"] = output_pic["picture_width_stride"] * output_pic[
        "picture_height_stride"] * 3 // 2
    picture_address, ret = acl.himpi.dvpp_malloc(0, output_pic["picture_buffer_size"])
    output_pic["picture_address"] = picture_address
    ret = acl.rt.memset(input_pic["picture_address"], input_pic["picture_buffer_size"], 33,
                        input_pic["picture_buffer_size"])
    ret = acl.rt.memset(output_pic["picture_address"], output_pic["picture_buffer_size"], 0,
                        output_pic["picture_buffer_size"])
    task_id, ret = acl.himpi.vpc_resize(channel_id, input_pic, output_pic, 0, 0, 0, -1)
    ret = acl.himpi.vpc_get_process_result(channel_id, task_id, -1)
    crop_region = {'top_offset': 0, 'left_offset': 0, 'crop_width': 960, 'crop_height': 540}
    crop_region_info = {'dest_pic_info': output_pic, 'crop_region': crop_region}
    task_id, ret = acl.himpi.vpc_crop(channel_id, input_pic, [crop_region_info], 1, -1)
    ret = acl.himpi.vpc_get_process_result(channel_id, task_id, -1)
    """, **NAMES)
    out = names["output_pic"]
    assert set(read_bytes(acl, out["picture_address"], out["picture_buffer_size"])) == {33}
    run_block("""
    ret = acl.himpi.dvpp_free(input_pic['picture_address'])
    ret = acl.himpi.dvpp_free(output_pic['picture_address'])
    ret = acl.himpi.vpc_destroy_chn(channel_id)
    ret = acl.himpi.sys_exit()
    ret = acl.rt.destroy_context(context)
    ret = acl.rt.reset_device(0)
    ret = acl.finalize()
    """, **names)


@block("5.4.4", "venc_attr = {'type': HI_PT_JPEG, 'profile': 0,",
       slips=["`event` is filled before it is made", "jpeg_attr stands beside venc_attr"])
def test_second_version_jpeg_encode():
    names = run_block("""
    ret = acl.init()
    ret = acl.rt.set_device(0)
    ret = acl.himpi.sys_init()
    channel_id = 0
    venc_attr = {'type': HI_PT_JPEG, 'profile': 0,
                 'max_pic_width': 128, 'pic_width': 128,
                 'max_pic_height': 128, 'pic_height': 128,
                 'buf_size': 1024 * 1024 * 2, 'is_by_frame': 1}
    jpeg_attr = {'recv_mode': HI_VENC_PIC_REC_SINGLE,
                 'mpf_cfg': {'large_thumbnail_num': 0}}
    attr = {'venc_attr': venc_attr, 'jpeg_attr': jpeg_attr}
    ret = acl.himpi.venc_create_chn(channel_id, attr)
    param, ret = acl.himpi.venc_get_jpeg_param(channel_id)
    param['qfactor'] = 100
    ret = acl.himpi.venc_set_jpeg_param(channel_id, param)
    recv_param = {'recv_pic_num': -1}
    ret = acl.himpi.venc_start_chn(channel_id, recv_param)
    input_size = 128 * 128 * 3 // 2
    input_addr, ret = acl.himpi.dvpp_malloc(0, input_size);
    v_frame = {'width': 128,
               'height': 128,
               'field': 4,
               'pixel_format': HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420,
               'header_stride': [0, 0, 0],
               'width_stride': [128, 0, 0],
               'height_stride': [0, 0, 0],
               'virt_addr': [input_addr, 0, 0],
               'time_ref': 0, 'pts': 1}
    frame = {'v_frame': v_frame, 'pool_id': 0, 'mod_id': 45}
    ret = acl.himpi.venc_send_frame(channel_id, frame, 0)
    fd = acl.himpi.venc_get_fd(channel_id)
    epoll_fd, ret = acl.himpi.sys_create_epoll(10)
    event = {}
    event['data'] = fd
    event['events'] = 1
    ret = acl.himpi.sys_ctl_epoll(epoll_fd, 1, fd, event)
    events, eventCount, ret = acl.himpi.sys_wait_epoll(epoll_fd, 3, 1000);
    status, ret = acl.himpi.venc_query_status(channel_id)
    stream = {'pack_cnt': status['cur_packs']}
    stream, ret = acl.himpi.venc_get_stream(channel_id, stream, 1000)
    """, **NAMES)
    pack = names["stream"]["pack"][0]
    assert Image.open(io.BytesIO(read_bytes(acl, pack["addr"], pack["len"]))).size == (128, 128)
    run_block("""
    ret = acl.himpi.dvpp_free(input_addr)
    ret = acl.himpi.venc_release_stream(channel_id, stream)
    ret = acl.himpi.venc_stop_chn(channel_id)
    ret = acl.himpi.sys_ctl_epoll(epoll_fd, 3, fd, event)
    ret = acl.himpi.sys_close_epoll(epoll_fd)
    ret = acl.himpi.venc_destroy_chn(channel_id)
    ret = acl.himpi.sys_exit()
    ret = acl.rt.reset_device(0)
    ret = acl.finalize()
    """, **names)
