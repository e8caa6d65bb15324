# SPDX-License-Identifier: Apache-2.0
"""Filters, mirrors, turns, warps and pyramids of acl.himpi against OpenCV, within a grey level."""
import cv2
import numpy as np
import pytest
from media_programs import download, nv12_bytes, ok, rgb_picture, upload

import acl

himpi = acl.himpi
GREY, NV12, RGB = 0, 1, 12
W, H = 64, 48
BORDERS = {0: cv2.BORDER_CONSTANT, 1: cv2.BORDER_REPLICATE, 2: cv2.BORDER_REFLECT,
           3: cv2.BORDER_REFLECT_101}


@pytest.fixture
def vpc():
    ok(acl.init())
    ok(acl.rt.set_device(0))
    ok(himpi.sys_init())
    ok(himpi.vpc_create_chn(0, {"attr": 0}))
    yield 0
    ok(himpi.vpc_destroy_chn(0))
    ok(himpi.sys_exit())
    ok(acl.rt.reset_device(0))
    ok(acl.finalize())


def picture(layout, width, height, data=None):
    step = 3 if layout == RGB else 1
    size = width * height * 3 // (1 if layout == RGB else 2) if layout else width * height
    return {"picture_address": upload(data if data is not None else bytes(size)),
            "picture_buffer_size": size, "picture_format": layout, "picture_width": width,
            "picture_height": height, "picture_width_stride": width * step,
            "picture_height_stride": height}


def pixels(one):
    data = download(one["picture_address"], one["picture_buffer_size"])
    width, height = one["picture_width"], one["picture_height"]
    if one["picture_format"] == RGB:
        return data.reshape(height, width, 3)
    return data[:width * height].reshape(height, width)


def noise(layout=RGB, width=W, height=H):
    random = np.random.RandomState(5)
    shape = (height, width, 3) if layout == RGB else (height, width)
    return random.randint(0, 256, shape, np.uint8)


def run(vpc, call, *args):
    ok(himpi.vpc_get_process_result(vpc, ok(call(vpc, *args, -1)), -1))


def filtered(vpc, call, name, config, source=None, layout=RGB):
    source = noise(layout) if source is None else source
    src, dst = picture(layout, W, H, source.tobytes()), picture(layout, W, H)
    run(vpc, call, {"src": src, "dst": dst, name: config})
    return source, pixels(dst)


def near(got, wanted):
    return np.abs(got.astype(int) - wanted.astype(int)).max() <= 1


SCALAR = {"val": [9.0, 20.0, 30.0, 0.0]}


@pytest.mark.parametrize("border", list(BORDERS))
@pytest.mark.parametrize("size, anchor", [((3, 3), (-1, -1)), ((5, 7), (1, 2)), ((4, 2), (-1, -1))])
def test_blur(vpc, border, size, anchor):
    config = {"kernel_size": {"width": size[0], "height": size[1]},
              "anchor": {"x": anchor[0], "y": anchor[1]}, "border_type": border}
    source, got = filtered(vpc, himpi.vpc_blur, "blur_cfg", config)
    assert near(got, cv2.blur(source, size, anchor=anchor, borderType=BORDERS[border]))


@pytest.mark.parametrize("size, sigma", [((3, 3), (0, 0)), ((5, 3), (1.2, 0)), ((7, 9), (2, 3))])
def test_gaussian_blur(vpc, size, sigma):
    config = {"kernel_size": {"width": size[0], "height": size[1]}, "sigma_x": sigma[0],
              "sigma_y": sigma[1], "border_type": 3}
    source, got = filtered(vpc, himpi.vpc_gaussian_blur, "gaussian_blur_cfg", config)
    wanted = cv2.GaussianBlur(source, size, sigma[0], sigmaY=sigma[1],
                              borderType=cv2.BORDER_REFLECT_101)
    assert near(got, wanted)


def test_filter_by_weights(vpc):
    weights = np.array([[0, -1, 0], [-1, 5.5, -1], [0.25, -1, 0]])
    config = {"filter": [list(row) + [0, 0] for row in weights] + [[0] * 5] * 2,
              "kernel_size": {"width": 3, "height": 3}, "anchor": {"x": 0, "y": 1}, "delta": 3.5,
              "border_type": 1}
    source, got = filtered(vpc, himpi.vpc_filter2d, "filter_2d_cfg", config)
    assert near(got, cv2.filter2D(source, -1, weights, anchor=(0, 1), delta=3.5,
                                  borderType=cv2.BORDER_REPLICATE))


@pytest.mark.parametrize("side", [3, 5, 9])
@pytest.mark.parametrize("layout", [GREY, RGB])
def test_median_is_exact(vpc, side, layout):
    source, got = filtered(vpc, himpi.vpc_median_blur, "median_blur_cfg", {"kernel_size": side},
                           layout=layout)
    assert np.array_equal(got, cv2.medianBlur(source, side))


@pytest.mark.parametrize("name", ["dilate", "erode"])
@pytest.mark.parametrize("shape", [0, 1, 2])
@pytest.mark.parametrize("times", [1, 3])
def test_morphology_is_exact(vpc, name, shape, times):
    config = {"kernel_size": {"width": 5, "height": 3}, "morph_shapes": shape,
              "anchor": {"x": -1, "y": -1}, "iterations": times, "border_type": 1}
    source, got = filtered(vpc, getattr(himpi, "vpc_" + name), "blur_cfg", config, layout=GREY)
    kernel = cv2.getStructuringElement(shape, (5, 3))
    wanted = getattr(cv2, name)(source, kernel, iterations=times, borderType=cv2.BORDER_REPLICATE)
    assert np.array_equal(got, wanted)


def test_mirrors(vpc):
    for mode, code in ((0, 1), (1, 0), (2, -1)):
        source, got = filtered(vpc, himpi.vpc_flip, "flip_mode", mode)
        assert np.array_equal(got, cv2.flip(source, code))
    src, dst = picture(NV12, W, H, nv12_bytes(W, H, smooth=False)), picture(NV12, W, H)
    run(vpc, himpi.vpc_flip, {"src": src, "dst": dst, "flip_mode": 0})
    chroma = [download(p["picture_address"], W * H * 3 // 2)[W * H:].reshape(-1, W // 2, 2)
              for p in (src, dst)]
    assert np.array_equal(chroma[1], chroma[0][:, ::-1]), "U and V stay in their order"


def test_turns(vpc):
    for angle, code in enumerate((cv2.ROTATE_90_CLOCKWISE, cv2.ROTATE_180,
                                  cv2.ROTATE_90_COUNTERCLOCKWISE)):
        source = noise()
        size = (W, H) if angle == 1 else (H, W)
        src, dst = picture(RGB, W, H, source.tobytes()), picture(RGB, *size)
        run(vpc, himpi.vpc_rotate, {"src": src, "dst": dst, "angle": angle})
        assert np.array_equal(pixels(dst), cv2.rotate(source, code))
    bad = picture(RGB, W, H)
    assert himpi.vpc_rotate(vpc, {"src": src, "dst": bad, "angle": 0}, -1)[-1] != 0
    assert "turned by 90 degrees is not 64x48" in acl.get_recent_err_msg()


def test_a_pyramid_of_three_levels(vpc):
    wanted = noise(GREY, 128, 96)
    levels = [picture(GREY, 128 >> i, 96 >> i) for i in (1, 2, 3)]
    run(vpc, himpi.vpc_pyrdown, picture(GREY, 128, 96, wanted.tobytes()), levels, 3, 0, 0,
        {"border_type": 3})
    for level in levels:
        wanted = cv2.pyrDown(wanted)
        assert near(pixels(level), wanted)
        wanted = pixels(level)


POINTS = {"src_point": [{"x": 5, "y": 4}, {"x": 60, "y": 8}, {"x": 10, "y": 40}],
          "src_point_count": 3,
          "dest_point": [{"x": 0, "y": 0}, {"x": 50, "y": 14}, {"x": 6, "y": 45}],
          "dest_point_count": 3}


def smooth_source():
    return rgb_picture(W, H)


def warp_param(source, interpolation=0, border=1):
    dst = picture(RGB, W, H)
    return dst, {"src": picture(RGB, W, H, source.tobytes()), "dst": dst,
                 "transform_config": {"interpolation": interpolation, "border_type": border,
                                      "scalar_value": SCALAR}}


def corners(info, side):
    return np.float32([[p["x"], p["y"]] for p in info[side + "_point"]])


def test_affine_matrices_are_opencvs(vpc):
    found = np.array(ok(himpi.vpc_get_affine_transform(POINTS))["matrix"])[:2, :3]
    wanted = cv2.getAffineTransform(corners(POINTS, "src"), corners(POINTS, "dest"))
    assert np.allclose(found, wanted, atol=1e-4)
    found = np.array(ok(himpi.vpc_get_rotation_matrix({"x": 30, "y": 20}, 33.0, 1.5))["matrix"])
    assert np.allclose(found[:2, :3], cv2.getRotationMatrix2D((30, 20), 33, 1.5), atol=1e-4)
    line = dict(POINTS, src_point=[{"x": i, "y": i} for i in range(3)])
    assert himpi.vpc_get_affine_transform(line)[-1] != 0
    assert "one line" in acl.get_recent_err_msg()


def test_warp_by_a_matrix(vpc):
    source = smooth_source()
    matrix = ok(himpi.vpc_get_affine_transform(POINTS))
    dst, param = warp_param(source)
    run(vpc, himpi.vpc_warp_affine, matrix, param)
    wanted = cv2.warpAffine(source, np.array(matrix["matrix"])[:2, :3], (W, H),
                            flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    # OpenCV's own positions have five bits.
    assert np.abs(pixels(dst).astype(int) - wanted).max() <= 3


def test_a_warp_of_interpolation_1_takes_the_nearest_pixel_and_0_blends(vpc):
    """As the header numbers them."""
    source = noise()
    matrix = {"matrix": [[1.0, 0.0, 2.25], [0.0, 1.0, -1.25], [0.0, 0.0, 1.0]]}
    dst, param = warp_param(source, interpolation=1)
    run(vpc, himpi.vpc_warp_affine, matrix, param)
    assert np.array_equal(pixels(dst)[:H - 2, 3:], source[1:H - 1, 1:W - 2])
    dst, param = warp_param(source, interpolation=0)
    run(vpc, himpi.vpc_warp_affine, matrix, param)
    wanted = cv2.warpAffine(source, np.array(matrix["matrix"])[:2], (W, H), flags=cv2.INTER_LINEAR,
                            borderMode=cv2.BORDER_REPLICATE)
    assert np.abs(pixels(dst).astype(int) - wanted).max() <= 3


def lut_of(call, *args):
    size = ok(himpi.vpc_get_lut_mem_size(W, H))
    lut = {"src_pic_width": W, "src_pic_height": H, "dest_pic_width": W, "dest_pic_height": H,
           "lut": upload(bytes(size)), "lut_size": size}
    ok(call(*args, lut))
    return lut


def test_warp_by_tables(vpc):
    source = smooth_source()
    lut = lut_of(himpi.vpc_get_affine_lut, POINTS, 1)
    dst, param = warp_param(source)
    run(vpc, himpi.vpc_lut_remap, param, lut)
    by_matrix, param = warp_param(source)
    run(vpc, himpi.vpc_warp_affine, ok(himpi.vpc_get_affine_transform(POINTS)), param)
    assert near(pixels(dst), pixels(by_matrix))

    four = {"src_point": [*POINTS["src_point"], {"x": 58, "y": 44}], "src_point_count": 4,
            "dest_point": [*POINTS["dest_point"], {"x": 63, "y": 40}], "dest_point_count": 4}
    dst, param = warp_param(source)
    run(vpc, himpi.vpc_lut_remap, param, lut_of(himpi.vpc_get_perspective_lut, four, 1))
    wanted = cv2.warpPerspective(
        source, cv2.getPerspectiveTransform(corners(four, "src"), corners(four, "dest")), (W, H),
        borderMode=cv2.BORDER_REPLICATE)
    assert np.abs(pixels(dst).astype(int) - wanted).max() <= 4

    y, x = np.mgrid[0:H, 0:W].astype(np.float32)
    maps = (x + 3 * np.sin(y / 5)).astype(np.float32), (y * 0.9 + 1).astype(np.float32)
    param_map = {"map1": upload(maps[0].tobytes()), "map2": upload(maps[1].tobytes()),
                 "map_size": W * H * 4, "src_pic_width": W, "src_pic_height": H,
                 "dest_pic_width": W, "dest_pic_height": H}
    dst, param = warp_param(source)
    run(vpc, himpi.vpc_lut_remap, param, lut_of(himpi.vpc_get_remap_lut, param_map))
    wanted = cv2.remap(source, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    assert np.abs(pixels(dst).astype(int) - wanted).max() <= 3


def test_a_region_is_scaled_twice(vpc):
    source = noise()
    target = picture(RGB, W, H, bytes([7]) * (W * H * 3))
    region = {"dest_pic_info": target, "crop_region": {"left_offset": 8, "top_offset": 4,
                                                       "crop_width": 48, "crop_height": 40},
              "resize_info1": {"resize_width": 24, "resize_height": 20, "interpolation": 0},
              "resize_info2": {"resize_width": 32, "resize_height": 30, "interpolation": 1},
              "dest_left_offset": 16, "dest_top_offset": 10}
    run(vpc, himpi.vpc_crop_resize_resize_paste, picture(RGB, W, H, source.tobytes()), [region], 1)
    wanted = cv2.resize(source[4:44, 8:56], (24, 20), interpolation=cv2.INTER_LINEAR)
    wanted = cv2.resize(wanted, (32, 30), interpolation=cv2.INTER_NEAREST)
    got = pixels(target)
    assert near(got[10:40, 16:48], wanted)
    assert (got[:10] == 7).all() and (got[40:] == 7).all()


def test_a_channel_converts_with_its_matrix(vpc):
    source = picture(RGB, W, H, smooth_source().tobytes())
    assert ok(himpi.sys_get_chn_csc_matrix(7, vpc))[0] == 0
    found = {}
    for number in (0, 1, 3):
        ok(himpi.sys_set_chn_csc_matrix(7, vpc, number, {}))
        told, numbers = ok(himpi.sys_get_chn_csc_matrix(7, vpc))
        assert told == number
        target = picture(NV12, W, H)
        run(vpc, himpi.vpc_convert_color, source, target)
        found[number] = pixels(target)
        first = [numbers["rgb_to_yuv_coefficient"][f"csc_matrix_r0_c{i}"] for i in range(3)]
        wanted = smooth_source() @ np.array(first) + (16 if number % 2 else 0)
        assert np.abs(found[number] - wanted).max() <= 1
    own = ok(himpi.sys_get_chn_csc_matrix(7, vpc))[1]
    own["rgb_to_yuv_coefficient"].update(csc_matrix_r0_c0=0, csc_matrix_r0_c1=1,
                                         csc_matrix_r0_c2=0, csc_bias_r0=0)
    ok(himpi.sys_set_chn_csc_matrix(7, vpc, 100, own))
    target = picture(NV12, W, H)
    run(vpc, himpi.vpc_convert_color, source, target)
    assert np.array_equal(pixels(target), smooth_source()[..., 1])
    assert himpi.sys_set_chn_csc_matrix(7, vpc, 50, {}) != 0


def test_strides_for_several_units(vpc):
    info = ok(himpi.sys_get_image_align_info([0, 2], 2, {"width": 100, "height": 51,
                                                         "pixel_format": NV12}))
    assert (info["width_stride"], info["height_stride"], info["img_buf_size"]) == (112, 52, 8736)
    info = ok(himpi.sys_get_image_align_info([0, 4], 2, {"width": 100, "height": 51,
                                                          "pixel_format": RGB}))
    assert (info["width_stride"], info["height_stride"]) == (384, 64)
    assert himpi.sys_get_image_align_info([99], 1, {"width": 1, "height": 1})[-1] != 0
    ok(himpi.vpc_set_chn_workspace(vpc, [{"func": 1}], 1))


@pytest.mark.parametrize("call, name, config, word", [
    ("vpc_blur", "blur_cfg", {"kernel_size": {"width": 0, "height": 3}}, "0x3"),
    ("vpc_blur", "blur_cfg", {"kernel_size": {"width": 3, "height": 3},
                              "anchor": {"x": 3, "y": 0}}, "anchor 3,0"),
    ("vpc_gaussian_blur", "gaussian_blur_cfg", {"kernel_size": {"width": 4, "height": 3}}, "odd"),
    ("vpc_median_blur", "median_blur_cfg", {"kernel_size": 4}, "kernel size is 4"),
    ("vpc_dilate", "blur_cfg", {"kernel_size": {"width": 3, "height": 3}, "morph_shapes": 9},
     "shape is 9"),
    ("vpc_flip", "flip_mode", 7, "mode is 7"),
])
def test_what_cannot_be_is_refused_with_its_value(vpc, call, name, config, word):
    param = {"src": picture(RGB, W, H), "dst": picture(RGB, W, H), name: config}
    assert getattr(himpi, call)(vpc, param, -1)[-1] != 0
    assert word in acl.get_recent_err_msg()
