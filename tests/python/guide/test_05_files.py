# SPDX-License-Identifier: Apache-2.0
"""Guide 5.3.3 to 5.3.5: JPEG and PNG files, and 5.3.7: the parameters of an encoder by number,
first version of the interface."""
import io
from types import SimpleNamespace

import numpy as np
from blocks import block, read_bytes, run_block
from PIL import Image

import acl

W, H = 128, 96
NAMES = {"acl": acl, "np": np, "w": W, "h": H, "PIXEL_FORMAT_YUV_SEMIPLANAR_420": 1}

START = """
    ret = acl.init()
    self.device_id = 0
    ret = acl.rt.set_device(self.device_id)
    self.context, ret = acl.rt.create_context(self.device_id)
    self.stream, ret = acl.rt.create_stream()

    self.dvpp_channel_desc = acl.media.dvpp_create_channel_desc()

    ret = acl.media.dvpp_create_channel(self.dvpp_channel_desc)
    """
BUFFERS = """
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
    """
SIZES = """
    ret = acl.media.dvpp_set_pic_desc_width(self.pic_desc, w)
    ret = acl.media.dvpp_set_pic_desc_height(self.pic_desc, h)
    ret = acl.media.dvpp_set_pic_desc_width_stride(self.pic_desc, width_stride)
    ret = acl.media.dvpp_set_pic_desc_height_stride(self.pic_desc, height_stride)
    """
END = """
    ret = acl.media.dvpp_destroy_pic_desc(self.pic_desc)
    ret = acl.media.dvpp_free(self.in_buffer_dev)
    ret = acl.media.dvpp_free(self.out_buffer_dev)
    ret = acl.media.dvpp_destroy_channel(self.dvpp_channel_desc)
    ret = acl.media.dvpp_destroy_channel_desc(self.dvpp_channel_desc)

    ret = acl.rt.destroy_stream(self.stream)
    ret = acl.rt.destroy_context(self.context)
    ret = acl.rt.reset_device(self.device_id)
    ret = acl.finalize()
    """


def picture_file(path):
    """A smooth picture, in the format of the file's name."""
    y, x = np.mgrid[0:H, 0:W]
    image = Image.fromarray(np.stack([x, y, x + y], -1).astype(np.uint8))
    image.save(path)
    return image


@block("5.3.3", "np_jpg = np.fromfile(self.path, dtype=np.byte)",
       slips=["context and stream are made without self., and used with it"])
def test_5_3_3_jpeg_decode(tmp_path):
    picture_file(tmp_path / "a.jpg")
    program = SimpleNamespace(path=str(tmp_path / "a.jpg"))
    names = run_block(START + BUFFERS + """
    self.pic_desc = acl.media.dvpp_create_pic_desc()
    ret = acl.media.dvpp_set_pic_desc_data(self.pic_desc, self.out_buffer_dev)
    ret = acl.media.dvpp_set_pic_desc_size(self.pic_desc, self.out_buffer_size)
    ret = acl.media.dvpp_set_pic_desc_format(
        self.pic_desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420)
    """ + SIZES + """
    ret = acl.media.dvpp_jpeg_decode_async(self.dvpp_channel_desc,
                                           self.in_buffer_dev,
                                           self.in_buffer_size,
                                           self.pic_desc, self.stream)
    ret = acl.rt.synchronize_stream(self.stream)
    """, self=program, **NAMES)
    image = Image.open(tmp_path / "a.jpg")
    image.draft("YCbCr", image.size)
    got = np.frombuffer(read_bytes(acl, program.out_buffer_dev, W * H), np.uint8).reshape(H, W)
    assert np.array_equal(got, np.asarray(image)[..., 0])
    run_block(END, **names)


@block("5.3.4", "self.jpege_config = acl.media.dvpp_create_jpege_config()",
       slips=["np_out_size keeps the predicted size: the real one is written to bytes_data, its "
              "copy", "`size` is used before it is set",
              "the output is allocated twice: the first one is lost"])
def test_5_3_4_jpeg_encode(tmp_path):
    y, x = np.mgrid[0:H, 0:W]
    picture = np.concatenate([(x + y).ravel(), np.full(W * H // 2, 128)]).astype(np.uint8)
    picture.tofile(tmp_path / "a.yuv")
    names = run_block(START + BUFFERS + """
    self.pic_desc = acl.media.dvpp_create_pic_desc()
    ret = acl.media.dvpp_set_pic_desc_data(self.pic_desc, self.in_buffer_dev)
    ret = acl.media.dvpp_set_pic_desc_size(self.pic_desc, self.in_buffer_size)
    ret = acl.media.dvpp_set_pic_desc_format(self.pic_desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420)
    """ + SIZES + """
    self.jpege_config = acl.media.dvpp_create_jpege_config()
    ret = acl.media.dvpp_set_jpege_config_level(self.jpege_config, 100)
    self.out_buffer_size, ret = acl.media.dvpp_jpeg_predict_enc_size(
        self.pic_desc, self.jpege_config)
    self.out_buffer_dev, ret = acl.media.dvpp_malloc(self.out_buffer_size)

    acl.rt.set_context(self.context)
    np_out_size = np.array([self.out_buffer_size], dtype=np.int32)
    bytes_data = np_out_size.tobytes()
    np_out_size_ptr = acl.util.bytes_to_ptr(bytes_data)
    ret = acl.media.dvpp_jpeg_encode_async(self.dvpp_channel_desc, self.pic_desc,
                                           self.out_buffer_dev, np_out_size_ptr,
                                           self.jpege_config, self.stream)
    ret = acl.rt.synchronize_stream(self.stream)

    real_size = int(np.frombuffer(bytes_data, np.int32)[0])
    size = int(np_out_size[0])
    np_output = np.zeros(size, dtype=np.byte)
    bytes_data = np_output.tobytes()
    np_output_ptr = acl.util.bytes_to_ptr(bytes_data)
    ret = acl.rt.memcpy(np_output_ptr, size, self.out_buffer_dev, size, 2)

    ret = acl.media.dvpp_destroy_jpege_config(self.jpege_config)
    """ + END, self=SimpleNamespace(path=str(tmp_path / "a.yuv")), **NAMES)
    assert names["real_size"] < names["size"], "the prediction is an upper bound"
    image = Image.open(io.BytesIO(names["bytes_data"][:names["real_size"]]))
    image.draft("YCbCr", image.size)
    luma = np.asarray(image)[..., 0]
    assert np.abs(luma.astype(int) - picture[:W * H].reshape(H, W)).max() <= 2


@block("5.3.5", 'pic_name = "../data/test_png_dec.png"',
       slips=["the file of the configuration and the picture are where the test puts them"])
def test_5_3_5_png_decode(tmp_path, monkeypatch):
    for folder in ("src", "data", "out"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / "acl.json").write_text("{}")
    image = picture_file(tmp_path / "data" / "test_png_dec.png")
    monkeypatch.chdir(tmp_path / "out")
    names = run_block("""
    ACL_CONFIG_PATH = "../src/acl.json"
    ret = acl.init(ACL_CONFIG_PATH)

    device_id = 0
    ret = acl.rt.set_device(device_id)
    context, ret = acl.rt.create_context(device_id)
    stream, ret = acl.rt.create_stream()

    dvpp_channel_desc = acl.media.dvpp_create_channel_desc()

    ret = acl.media.dvpp_create_channel(dvpp_channel_desc)

    pic_name = "../data/test_png_dec.png"
    np_png = np.fromfile(pic_name, dtype=np.byte)
    in_buffer_size = np_png.itemsize * np_png.size
    bytes_data = np_png.tobytes()
    np_png_ptr = acl.util.bytes_to_ptr(bytes_data)
    in_dev_buffer, ret = acl.media.dvpp_malloc(in_buffer_size)
    ACL_MEMCPY_HOST_TO_DEVICE = 1
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

    ret = acl.media.dvpp_png_decode_async(dvpp_channel_desc, in_dev_buffer, in_buffer_size,
                                          output_desc, stream)
    ret = acl.rt.synchronize_stream(stream)
    """, **NAMES)
    assert (names["width"], names["height"], names["components"]) == (W, H, 3)
    rows = np.frombuffer(read_bytes(acl, names["out_dev_buffer"], W * H * 3), np.uint8)
    assert np.array_equal(rows.reshape(H, W, 3), np.asarray(image))
    run_block("""
    ret = acl.media.dvpp_destroy_pic_desc(output_desc)
    ret = acl.media.dvpp_free(in_dev_buffer)
    ret = acl.media.dvpp_free(out_dev_buffer)
    ret = acl.media.dvpp_destroy_channel(dvpp_channel_desc)
    ret = acl.media.dvpp_destroy_channel_desc(dvpp_channel_desc)

    ret = acl.rt.destroy_stream(stream)
    ret = acl.rt.destroy_context(context)
    ret = acl.rt.reset_device(device_id)
    ret = acl.finalize()
    """, **names)


@block("5.3.7", "ACL_VENC_THREAD_ID_UINT64 = 0",
       note="the callback is kept; media/test_media_video.py has what a channel then does")
def test_5_3_7_parameters_of_an_encoder_by_number(ready):
    program = SimpleNamespace(callback_func=lambda *args: None,
                              venc_channel_desc=acl.media.venc_create_channel_desc())
    run_block("""
    ACL_VENC_THREAD_ID_UINT64 = 0
    ACL_VENC_CALLBACK_PTR = 1
    ACL_VENC_PIXEL_FORMAT_UINT32 = 2
    ACL_VENC_ENCODE_TYPE_UINT32 = 3
    ACL_VENC_PIC_WIDTH_UINT32 = 4
    ACL_VENC_PIC_HEIGHT_UINT32 = 5
    ACL_VENC_KEY_FRAME_INTERVAL_UINT32 = 6
    ACL_VENC_BUF_ADDR_PTR = 7
    ACL_VENC_BUF_SIZE_UINT32 = 8
    ACL_VENC_RC_MODE_UINT32 = 9
    ACL_VENC_SRC_RATE_UINT32 = 10
    ACL_VENC_MAX_BITRATE_UINT32 = 11
    ACL_VENC_MAX_IP_PROP_UINT32 = 12

    ret = acl.media.venc_set_channel_desc_param(self.venc_channel_desc, ACL_VENC_CALLBACK_PTR,
                                                self.callback_func)
    get_cb_func, ret = acl.media.venc_get_channel_desc_param(self.venc_channel_desc,
                                                             ACL_VENC_CALLBACK_PTR)
    assert get_cb_func is self.callback_func

    PIXEL_FORMAT_YUV_SEMIPLANAR_420 = 1
    ret = acl.media.venc_set_channel_desc_param(self.venc_channel_desc,
                                                ACL_VENC_PIXEL_FORMAT_UINT32,
                                                PIXEL_FORMAT_YUV_SEMIPLANAR_420)
    get_pic_format, ret = acl.media.venc_get_channel_desc_param(self.venc_channel_desc,
                                                                ACL_VENC_PIXEL_FORMAT_UINT32)
    assert get_pic_format == PIXEL_FORMAT_YUV_SEMIPLANAR_420

    width = 128
    ret = acl.media.venc_set_channel_desc_param(self.venc_channel_desc, ACL_VENC_PIC_WIDTH_UINT32,
                                                width)
    get_width, ret = acl.media.venc_get_channel_desc_param(self.venc_channel_desc,
                                                           ACL_VENC_PIC_WIDTH_UINT32)
    assert get_width == width

    height = 128
    ret = acl.media.venc_set_channel_desc_param(self.venc_channel_desc, ACL_VENC_PIC_HEIGHT_UINT32,
                                                height)
    get_height, ret = acl.media.venc_get_channel_desc_param(self.venc_channel_desc,
                                                            ACL_VENC_PIC_HEIGHT_UINT32)
    assert get_height == height
    """, self=program, **NAMES)
    assert acl.media.venc_destroy_channel_desc(program.venc_channel_desc) == 0
