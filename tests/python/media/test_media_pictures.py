# SPDX-License-Identifier: Apache-2.0
"""Pictures of acl.media: JPEG and PNG files, scaling, cropping, pasting, conversion, borders."""
import io
import struct
import zlib

import cv2
import numpy as np
import pytest
from media_programs import (
    BGR,
    NV12,
    NV21,
    RGB,
    RGBA,
    YUV422,
    YUV444,
    Picture,
    jpeg_bytes,
    nv12_bytes,
    ok,
    psnr,
    rgb_picture,
    up,
    upload,
)
from PIL import Image

import acl

JPEG_LAYOUT = {"4:2:0": NV12, "4:2:2": YUV422, "4:4:4": YUV444}


def region(left, right, top, bottom):
    return acl.media.dvpp_create_roi_config(left, right, top, bottom)


def resize_config(interpolation):
    config = acl.media.dvpp_create_resize_config()
    ok(acl.media.dvpp_set_resize_config_interpolation(config, interpolation))
    assert acl.media.dvpp_get_resize_config_interpolation(config) == interpolation
    return config


def decode_jpeg(channel, stream, data, picture):
    ok(acl.media.dvpp_jpeg_decode_async(channel, upload(data), len(data), picture.desc, stream))
    return acl.rt.synchronize_stream(stream)


def pillow_planes(data, mode="YCbCr"):
    """The decoder's own samples of a file without subsampling, or of its luma."""
    image = Image.open(io.BytesIO(data))
    image.draft(mode, image.size)
    return np.asarray(image)


@pytest.mark.parametrize("size", [(2, 2), (17, 9), (64, 48), (641, 359), (1920, 1080)])
@pytest.mark.parametrize("sampling", list(JPEG_LAYOUT))
def test_jpeg_luma_is_the_decoders_own(channel, stream, size, sampling):
    data = jpeg_bytes(*size, sampling)
    picture = Picture(JPEG_LAYOUT[sampling], *size)
    ok(decode_jpeg(channel, stream, data, picture))
    expected = pillow_planes(data)
    planes = picture.planes()
    assert np.array_equal(planes[0], expected[..., 0])
    if sampling == "4:4:4":
        assert np.array_equal(planes[1], expected[..., 1:])
    assert acl.media.dvpp_get_pic_desc_ret_code(picture.desc) == 0


def test_padding_around_a_decoded_picture_is_left_alone(channel, stream):
    picture = Picture(NV12, 17, 9, fill=77)
    ok(decode_jpeg(channel, stream, jpeg_bytes(17, 9), picture))
    rows = picture.bytes()[:picture.wstride * picture.hstride].reshape(picture.hstride, -1)
    assert (rows[:, 17:] == 77).all() and (rows[9:] == 77).all()


@pytest.mark.parametrize("options", [{"progressive": True}, {"grey": True}, {"optimize": True}])
def test_jpeg_variants_decode(channel, stream, options):
    data = jpeg_bytes(100, 60, **options)
    picture = Picture(NV12, 100, 60)
    ok(decode_jpeg(channel, stream, data, picture))
    expected = pillow_planes(data, "L" if options.get("grey") else "YCbCr")
    luma = expected if expected.ndim == 2 else expected[..., 0]
    assert np.array_equal(picture.planes()[0], luma)
    if options.get("grey"):
        assert (picture.planes()[1] == 128).all()


def test_what_a_jpeg_file_says_of_itself(device_0):
    data = jpeg_bytes(333, 222, "4:2:2")
    pointer = acl.util.bytes_to_ptr(data)
    assert acl.media.dvpp_jpeg_get_image_info(pointer, len(data)) == (333, 222, 3, 0)
    assert acl.media.dvpp_jpeg_get_image_info_v2(pointer, len(data)) == (333, 222, 3, 1, 0)
    size = ok(acl.media.dvpp_jpeg_predict_dec_size(pointer, len(data), NV12))
    assert size == up(333, 128) * up(222, 16) * 3 // 2


def test_a_picture_without_strides_gets_those_of_the_unit(channel, stream):
    data = jpeg_bytes(100, 50)
    size = ok(acl.media.dvpp_jpeg_predict_dec_size(acl.util.bytes_to_ptr(data), len(data), NV12))
    desc = acl.media.dvpp_create_pic_desc()
    ok(acl.media.dvpp_set_pic_desc_data(desc, ok(acl.media.dvpp_malloc(size))))
    ok(acl.media.dvpp_set_pic_desc_size(desc, size))
    ok(acl.media.dvpp_set_pic_desc_format(desc, NV12))
    ok(acl.media.dvpp_jpeg_decode_async(channel, upload(data), len(data), desc, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert [getattr(acl.media, "dvpp_get_pic_desc_" + name)(desc)
            for name in ("width", "height", "width_stride", "height_stride")] == [100, 50, 128, 64]


@pytest.mark.parametrize("level, least", [(100, 45), (90, 40), (0, 45), (20, 28)])
def test_encoded_jpeg_is_what_pillow_reads(channel, stream, level, least):
    for size in ((64, 32), (321, 123)):
        picture = Picture(NV12, *size, data=nv12_bytes(*size))
        config = acl.media.dvpp_create_jpege_config()
        ok(acl.media.dvpp_set_jpege_config_level(config, level))
        room = ok(acl.media.dvpp_jpeg_predict_enc_size(picture.desc, config))
        out = ok(acl.media.dvpp_malloc(room))
        length = np.array([room], np.uint32)
        pointer = acl.util.numpy_to_ptr(length)
        ok(acl.media.dvpp_jpeg_encode_async(channel, picture.desc, out, pointer, config, stream))
        ok(acl.rt.synchronize_stream(stream))
        data = acl.util.ptr_to_bytes(out, int(length[0]))
        luma = pillow_planes(data)[..., 0]
        assert psnr(luma, picture.planes()[0]) > least
        ok(acl.media.dvpp_destroy_jpege_config(config))


CV = {0: cv2.INTER_LINEAR, 1: cv2.INTER_LINEAR, 2: cv2.INTER_NEAREST, 5: cv2.INTER_CUBIC}


@pytest.mark.parametrize("interpolation", list(CV))
@pytest.mark.parametrize("size", [(224, 224), (96, 50), (1000, 700), (640, 360)])
def test_scaling_is_opencvs_within_one_grey_level(channel, stream, interpolation, size):
    source = Picture(NV12, 640, 360, data=nv12_bytes(640, 360, smooth=False))
    target = Picture(NV12, *size)
    ok(acl.media.dvpp_vpc_resize_async(channel, source.desc, target.desc,
                                       resize_config(interpolation), stream))
    ok(acl.rt.synchronize_stream(stream))
    for got, plane in zip(target.planes(), source.planes()):
        shape = got.shape[1], got.shape[0]
        expected = cv2.resize(plane, shape, interpolation=CV[interpolation])
        assert np.abs(got.astype(int) - expected.reshape(got.shape)).max() <= 1


@pytest.mark.parametrize("interpolation", [3, 4])
def test_scaling_as_tensorflow_does_it(channel, stream, interpolation):
    source = Picture(RGB, 40, 30, data=np.pad(rgb_picture(40, 30), ((0, 0), (0, 8), (0, 0))))
    target = Picture(RGB, 64, 20)
    ok(acl.media.dvpp_vpc_resize_async(channel, source.desc, target.desc,
                                       resize_config(interpolation), stream))
    ok(acl.rt.synchronize_stream(stream))
    pixels = source.planes()[0].astype(float)
    y, x = np.arange(20) * 30 / 20, np.arange(64) * 40 / 64
    y0, x0 = y.astype(int), x.astype(int)
    if interpolation == 4:
        expected = pixels[y0][:, x0]
    else:
        y1, x1 = np.minimum(y0 + 1, 29), np.minimum(x0 + 1, 39)
        fy, fx = (y - y0)[:, None, None], (x - x0)[None, :, None]
        rows = pixels[y0] * (1 - fy) + pixels[y1] * fy
        expected = rows[:, x0] * (1 - fx) + rows[:, x1] * fx
    assert np.abs(target.planes()[0] - expected).max() <= 1


@pytest.mark.parametrize("interpolation, name", [(1, "BILINEAR"), (2, "NEAREST")])
def test_pictures_made_larger_are_pillows(channel, stream, interpolation, name):
    """Pillow averages what it makes smaller, as no unit does: larger ones can be compared."""
    source = Picture(0, 64, 48, data=nv12_bytes(64, 48, smooth=False)[:64 * 48])
    for width, height in ((128, 96), (192, 144)):
        target = Picture(0, width, height)
        ok(acl.media.dvpp_vpc_resize_async(channel, source.desc, target.desc,
                                           resize_config(interpolation), stream))
        ok(acl.rt.synchronize_stream(stream))
        wanted = np.asarray(Image.fromarray(source.planes()[0]).resize(
            (width, height), getattr(Image.Resampling, name)))
        assert np.abs(target.planes()[0].astype(int) - wanted).max() <= (name == "BILINEAR")


def test_crop_takes_the_region_with_its_right_and_bottom_edge(channel, stream):
    source = Picture(NV12, 64, 48, data=nv12_bytes(64, 48, smooth=False))
    target = Picture(NV12, 32, 24)
    area = region(32, 63, 24, 47)
    ok(acl.media.dvpp_vpc_crop_async(channel, source.desc, target.desc, area, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert np.array_equal(target.planes()[0], source.planes()[0][24:, 32:])
    assert np.array_equal(target.planes()[1], source.planes()[1][12:, 16:])
    ok(acl.media.dvpp_destroy_roi_config(area))


def test_paste_overlays_what_the_output_holds(channel, stream):
    source = Picture(NV12, 64, 48, data=nv12_bytes(64, 48, smooth=False))
    target = Picture(NV12, 64, 48, fill=9)
    ok(acl.media.dvpp_vpc_crop_and_paste_async(channel, source.desc, target.desc,
                                               region(0, 31, 0, 23), region(16, 47, 8, 31), stream))
    ok(acl.rt.synchronize_stream(stream))
    expected = np.full((48, 64), 9, np.uint8)
    expected[8:32, 16:48] = source.planes()[0][:24, :32]
    assert np.array_equal(target.planes()[0], expected)


def test_crop_resize_paste_scales_with_the_chosen_algorithm(channel, stream):
    source = Picture(NV12, 128, 96, data=nv12_bytes(128, 96, smooth=False))
    target = Picture(NV12, 64, 64, fill=3)
    ok(acl.media.dvpp_vpc_crop_resize_paste_async(
        channel, source.desc, target.desc, region(64, 127, 48, 95), region(16, 47, 16, 39),
        resize_config(1), stream))
    ok(acl.rt.synchronize_stream(stream))
    expected = cv2.resize(source.planes()[0][48:, 64:], (32, 24), interpolation=cv2.INTER_LINEAR)
    got = target.planes()[0].copy()
    assert np.abs(got[16:40, 16:48].astype(int) - expected).max() <= 1
    got[16:40, 16:48] = 3
    assert (got == 3).all()


def test_batches_crop_many_regions_of_many_pictures(channel, stream):
    sources = acl.media.dvpp_create_batch_pic_desc(2)
    targets = acl.media.dvpp_create_batch_pic_desc(5)
    inputs = [Picture(NV12, 64, 48, nv12_bytes(64, 48, seed, smooth=False),
                      desc=acl.media.dvpp_get_pic_desc(sources, seed)) for seed in range(2)]
    outputs = [Picture(NV12, 32, 16, desc=acl.media.dvpp_get_pic_desc(targets, i))
               for i in range(5)]
    areas = [region(2 * i, 2 * i + 31, 4 * i, 4 * i + 15) for i in range(5)]
    crop = acl.media.dvpp_vpc_batch_crop_async
    given, ret = crop(channel, sources, [2, 3], targets, areas, stream)
    ok(ret)
    assert given == targets
    ok(acl.rt.synchronize_stream(stream))
    for i, output in enumerate(outputs):
        luma = inputs[0 if i < 2 else 1].planes()[0]
        assert np.array_equal(output.planes()[0], luma[4 * i:4 * i + 16, 2 * i:2 * i + 32])
    _, ret = crop(channel, sources, [2, 2], targets, areas, stream)
    assert ret != 0
    assert "add to 4" in acl.get_recent_err_msg()


@pytest.mark.parametrize("target_format", [NV21, YUV422, YUV444, RGB, BGR, RGBA, 0, 7, 8, 69])
def test_formats_that_differ_are_converted(channel, stream, target_format):
    source = Picture(NV12, 64, 48, data=nv12_bytes(64, 48))
    target = Picture(target_format, 64, 48)
    ok(acl.media.dvpp_vpc_convert_color_async(channel, source.desc, target.desc, stream))
    back = Picture(NV12, 64, 48)
    ok(acl.media.dvpp_vpc_convert_color_async(channel, target.desc, back.desc, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert psnr(back.planes()[0], source.planes()[0]) > (25 if target_format >= 12 else 90)
    if target_format in (RGB, BGR, RGBA):
        y, uv = source.planes()
        u, v = (np.repeat(np.repeat(uv[..., c], 2, 0), 2, 1).astype(float) - 128 for c in (0, 1))
        rgb = np.stack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u], -1)
        got = target.planes()[0][..., [2, 1, 0] if target_format == BGR else [0, 1, 2]]
        assert np.abs(got - rgb.clip(0, 255)).max() <= 1


def test_make_border_as_opencv(channel, stream):
    source = Picture(0, 32, 16, data=bytes(np.random.RandomState(1).randint(0, 256, 512, np.uint8)))
    kinds = {0: cv2.BORDER_CONSTANT, 1: cv2.BORDER_REPLICATE, 2: cv2.BORDER_REFLECT,
             3: cv2.BORDER_REFLECT_101}
    for number, kind in kinds.items():
        config = acl.media.dvpp_create_border_config()
        ok(acl.media.dvpp_set_border_config_border_type(config, number))
        ok(acl.media.dvpp_set_border_config_value(config, 0, 5.0))
        for side, width in (("top", 4), ("bottom", 6), ("left", 8), ("right", 2)):
            ok(getattr(acl.media, "dvpp_set_border_config_" + side)(config, width))
        target = Picture(0, 42, 26)
        ok(acl.media.dvpp_vpc_make_border_async(channel, source.desc, target.desc, config, stream))
        ok(acl.rt.synchronize_stream(stream))
        expected = cv2.copyMakeBorder(source.planes()[0], 4, 6, 8, 2, kind, value=5)
        assert np.array_equal(target.planes()[0], expected)
        ok(acl.media.dvpp_destroy_border_config(config))


def test_histogram_and_table(channel, stream):
    source = Picture(NV12, 64, 48, data=nv12_bytes(64, 48, smooth=False))
    hist = acl.media.dvpp_create_hist()
    ok(acl.media.dvpp_vpc_calc_hist_async(channel, source.desc, hist, 0, stream))
    ok(acl.rt.synchronize_stream(stream))
    address, length, ret = acl.media.dvpp_get_hist_data(hist, 0)
    ok(ret)
    counts = np.frombuffer(acl.util.ptr_to_bytes(address, length * 4), np.uint32)
    assert np.array_equal(counts, np.bincount(source.planes()[0].ravel(), minlength=256))
    table = acl.media.dvpp_create_lut_map()
    for dim in range(acl.media.dvpp_get_lut_map_dims(table)):
        address, length, ret = acl.media.dvpp_get_lut_map_data(table, dim)
        values = bytes(255 - i for i in range(length))
        ok(acl.rt.memcpy(address, length, acl.util.bytes_to_ptr(values), length, 0))
    target = Picture(NV12, 64, 48)
    ok(acl.media.dvpp_vpc_equalize_hist_async(channel, source.desc, target.desc, table, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert np.array_equal(target.planes()[0], 255 - source.planes()[0])


def test_pyramid_step_is_opencvs(channel, stream):
    source = Picture(0, 64, 48, data=nv12_bytes(64, 48, smooth=False)[:64 * 48])
    target = Picture(0, 32, 24)
    ok(acl.media.dvpp_vpc_pyr_down_async(channel, source.desc, target.desc, 0, stream))
    ok(acl.rt.synchronize_stream(stream))
    expected = cv2.pyrDown(source.planes()[0])
    assert np.abs(target.planes()[0].astype(int) - expected).max() <= 1


@pytest.mark.parametrize("mode, components", [("RGB", 3), ("RGBA", 4), ("L", 1), ("P", 3),
                                              ("LA", 2), ("1", 1)])
def test_png_files_decode_exactly(channel, stream, mode, components):
    image = Image.fromarray(rgb_picture(61, 37))
    image = image.convert("L").convert("LA") if mode == "LA" else image.convert(mode)
    out = io.BytesIO()
    image.save(out, "PNG")
    data = out.getvalue()
    pointer = acl.util.bytes_to_ptr(data)
    assert acl.media.dvpp_png_get_image_info(pointer, len(data)) == (61, 37, components, 0)
    for pixel_format, wanted in ((RGB, "RGB"), (RGBA, "RGBA")):
        size = ok(acl.media.dvpp_png_predict_dec_size(pointer, len(data), pixel_format))
        desc = acl.media.dvpp_create_pic_desc()
        address = ok(acl.media.dvpp_malloc(size))
        ok(acl.media.dvpp_set_pic_desc_data(desc, address))
        ok(acl.media.dvpp_set_pic_desc_size(desc, size))
        ok(acl.media.dvpp_set_pic_desc_format(desc, pixel_format))
        ok(acl.media.dvpp_png_decode_async(channel, upload(data), len(data), desc, stream))
        ok(acl.rt.synchronize_stream(stream))
        stride = acl.media.dvpp_get_pic_desc_width_stride(desc)
        rows = np.frombuffer(acl.util.ptr_to_bytes(address, stride * 37), np.uint8)
        step = 3 if pixel_format == RGB else 4
        got = rows.reshape(37, stride)[:, :61 * step].reshape(37, 61, step)
        assert np.array_equal(got, np.asarray(image.convert(wanted)))


def test_violations_name_their_rule(channel, stream):
    source, target = Picture(NV12, 64, 48), Picture(NV12, 64, 48)
    config = resize_config(1)

    def refused(message):
        ret = acl.media.dvpp_vpc_resize_async(channel, source.desc, target.desc, config, stream)
        assert ret != 0 and message in acl.get_recent_err_msg()

    ok(acl.media.dvpp_set_pic_desc_width_stride(source.desc, 100))
    refused("width stride 100 is not a multiple of 16")
    ok(acl.media.dvpp_set_pic_desc_width_stride(source.desc, 48))
    refused("width stride 48 does not fit 64 pixels")
    ok(acl.media.dvpp_set_pic_desc_width_stride(source.desc, 64))
    ok(acl.media.dvpp_set_pic_desc_height_stride(source.desc, 49))
    refused("height stride 49 is not a multiple of 2")
    ok(acl.media.dvpp_set_pic_desc_height_stride(source.desc, 48))
    ok(acl.media.dvpp_set_pic_desc_size(source.desc, 100))
    refused("the size is 100 bytes")
    ok(acl.media.dvpp_set_pic_desc_size(source.desc, source.size))
    ok(acl.media.dvpp_set_pic_desc_format(source.desc, 99))
    refused("pixel format 99")
    ok(acl.media.dvpp_set_pic_desc_format(source.desc, NV12))
    ret = acl.media.dvpp_vpc_crop_async(channel, source.desc, target.desc, region(1, 31, 0, 31),
                                        stream)
    assert ret != 0 and "even left" in acl.get_recent_err_msg()


@pytest.mark.parametrize("damage", ["empty", "random", "truncated", "header", "bomb", "no width",
                                    "no height"])
def test_bad_jpeg_files_fail_and_the_channel_stays_usable(channel, stream, damage):
    good = jpeg_bytes(64, 48)
    at = good.index(b"\xff\xc0") + 5
    bad = {"empty": b"\0", "random": bytes(np.random.RandomState(3).randint(0, 256, 500, np.uint8)),
           "truncated": good[:len(good) // 2], "header": good[:40],
           "bomb": good[:at] + b"\xff\xff\xff\xff" + good[at + 4:],
           "no width": good[:at + 2] + b"\0\0" + good[at + 4:],
           "no height": good[:at] + b"\0\0" + good[at + 2:]}[damage]
    picture = Picture(NV12, 64, 48)
    ok(acl.media.dvpp_jpeg_decode_async(channel, upload(bad), len(bad), picture.desc, stream))
    assert acl.rt.synchronize_stream(stream) != 0
    assert acl.media.dvpp_get_pic_desc_ret_code(picture.desc) == 1
    ok(decode_jpeg(channel, stream, good, picture))


def png_bytes(width, height, rows):
    """A file of grey pixels whose header need not be true."""
    def chunk(name, body):
        crc = struct.pack(">I", zlib.crc32(name + body))
        return struct.pack(">I", len(body)) + name + body + crc

    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@pytest.mark.parametrize("damage", ["empty", "random", "truncated", "bomb", "no width", "no height",
                                    "too few rows", "jpeg"])
def test_bad_png_files_fail_and_the_channel_stays_usable(channel, stream, damage):
    rows = (b"\0" + bytes(range(64))) * 48
    good = png_bytes(64, 48, rows)
    bad = {"empty": b"\0", "random": bytes(np.random.RandomState(3).randint(0, 256, 500, np.uint8)),
           "truncated": good[:len(good) // 2], "bomb": png_bytes((1 << 31) - 1, 1 << 20, rows),
           "no width": png_bytes(0, 48, rows), "no height": png_bytes(64, 0, rows),
           "too few rows": png_bytes(64, 48, rows[:65 * 20]), "jpeg": jpeg_bytes(64, 48)}[damage]
    picture = Picture(RGB, 64, 48)
    ok(acl.media.dvpp_png_decode_async(channel, upload(bad), len(bad), picture.desc, stream))
    assert acl.rt.synchronize_stream(stream) != 0
    assert acl.media.dvpp_get_pic_desc_ret_code(picture.desc) == 1
    ok(acl.media.dvpp_png_decode_async(channel, upload(good), len(good), picture.desc, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert (picture.planes()[0][..., 0] == np.arange(64)).all()


def test_a_channel_is_created_once_and_gone_after_destroy(stream):
    desc = acl.media.dvpp_create_channel_desc()
    picture = Picture(NV12, 64, 48)
    config = resize_config(0)
    call = (desc, picture.desc, picture.desc, config, stream)
    assert acl.media.dvpp_vpc_resize_async(*call) != 0
    ok(acl.media.dvpp_create_channel(desc))
    assert acl.media.dvpp_create_channel(desc) != 0
    ok(acl.media.dvpp_vpc_resize_async(*call))
    ok(acl.media.dvpp_destroy_channel(desc))
    assert acl.media.dvpp_vpc_resize_async(*call) != 0
    assert acl.media.dvpp_destroy_channel(desc) != 0
    ok(acl.rt.synchronize_stream(stream))
