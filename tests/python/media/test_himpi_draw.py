# SPDX-License-Identifier: Apache-2.0
"""Drawing of acl.himpi: covers, lines and mosaics over a picture, which is otherwise unchanged."""
import cv2
import numpy as np
import pytest
from media_programs import download, nv12_bytes
from test_himpi_pictures import NV12, RGB, H, W, noise, picture, pixels, run, vpc  # noqa: F401

import acl

himpi = acl.himpi
ORANGE = 0xFF8010
XS, YS = np.meshgrid(np.arange(W), np.arange(H))


def drawn(chn, call, name, shapes, layout=RGB):
    data = noise() if layout == RGB else np.frombuffer(nv12_bytes(W, H, smooth=False), np.uint8)
    src, dst = picture(layout, W, H, data.tobytes()), picture(layout, W, H)
    run(chn, call, {"src": src, "dst": dst, "count": len(shapes), name: shapes})
    assert np.array_equal(download(src["picture_address"], data.size), data.ravel())
    return data, pixels(dst) if layout == RGB else download(dst["picture_address"], data.size)


def painted(source, where, color=ORANGE):
    out = source.copy()
    out[where] = (color >> 16, color >> 8 & 255, color & 255)
    return out


def near_line(start, end, reach):
    """Pixels at most so far away from a line."""
    a, b = np.array(start, float), np.array(end, float)
    at = np.stack([XS, YS], -1) - a
    part = np.clip(at @ (b - a) / max((b - a) @ (b - a), 1e-9), 0, 1)
    return np.hypot(*np.moveaxis(at - part[..., None] * (b - a), -1, 0)) <= reach


def point(x, y):
    return {"x": x, "y": y}


def test_rectangles_cover_a_picture_in_their_order(vpc):  # noqa: F811
    shapes = [{"type": 0, "rect": {"x": 5, "y": 7, "width": 21, "height": 10}, "color": ORANGE},
              {"type": 0, "rect": {"x": 20, "y": 0, "width": 44, "height": 9}, "color": 0x0000FF}]
    source, got = drawn(vpc, himpi.vpc_draw_cover, "cover", shapes)
    wanted = painted(source, (slice(7, 17), slice(5, 26)))
    assert np.array_equal(got, painted(wanted, (slice(0, 9), slice(20, 64)), 0x0000FF))


def test_a_quadrangle_is_filled_or_only_its_edge(vpc):  # noqa: F811
    corners = [(10, 5), (50, 12), (44, 40), (6, 30)]
    quad = {"is_solid": 1, "thick": 3, "point": [point(*c) for c in corners]}
    source, got = drawn(vpc, himpi.vpc_draw_cover, "cover",
                        [{"type": 1, "quad": quad, "color": ORANGE}])
    wanted = source.copy()
    cv2.fillPoly(wanted, [np.array(corners)], (0xFF, 0x80, 0x10))
    assert (got != wanted).any(-1).sum() <= 12, "a few pixels of the edge"
    quad["is_solid"] = 0
    source, got = drawn(vpc, himpi.vpc_draw_cover, "cover",
                        [{"type": 1, "quad": quad, "color": ORANGE}])
    edge = np.any([near_line(corners[i], corners[(i + 1) % 4], 1.5) for i in range(4)], 0)
    assert np.array_equal(got, painted(source, edge))


@pytest.mark.parametrize("start, end, thick", [((0, 0), (63, 47), 1), ((3, 40), (60, 11), 4),
                                               ((20, 20), (20, 20), 7), ((5, 47), (63, 47), 2)])
def test_a_line_is_as_thick_as_asked(vpc, start, end, thick):  # noqa: F811
    source, got = drawn(vpc, himpi.vpc_draw_line, "line", [
        {"start_point": point(*start), "end_point": point(*end), "thick": thick, "color": ORANGE}])
    assert np.array_equal(got, painted(source, near_line(start, end, thick / 2)))


def test_colours_of_yuv_pictures_are_made_by_the_matrix_of_the_channel(vpc):  # noqa: F811
    rect = {"x": 8, "y": 4, "width": 17, "height": 11}  # half a chroma sample counts whole
    source, got = drawn(vpc, himpi.vpc_draw_cover, "cover",
                        [{"type": 0, "rect": rect, "color": ORANGE}], NV12)
    luma = source[:W * H].reshape(H, W).copy()
    luma[4:15, 8:25] = round(0.299 * 0xFF + 0.587 * 0x80 + 0.114 * 0x10)
    chroma = source[W * H:].reshape(H // 2, W // 2, 2).copy()
    chroma[2:8, 4:13] = (round(128 - 0.168736 * 0xFF - 0.331264 * 0x80 + 0.5 * 0x10),
                         round(128 + 0.5 * 0xFF - 0.418688 * 0x80 - 0.081312 * 0x10))
    assert np.array_equal(got[:W * H].reshape(H, W), luma)
    assert np.array_equal(got[W * H:].reshape(H // 2, W // 2, 2), chroma)


@pytest.mark.parametrize("number, side", [(0, 4), (2, 16), (5, 128)])
def test_a_mosaic_has_the_mean_of_each_block(vpc, number, side):  # noqa: F811
    rect = {"x": 6, "y": 2, "width": 50, "height": 41}
    source, got = drawn(vpc, himpi.vpc_draw_mosaic, "mosaic", [{"blk_size": number, "rect": rect}])
    wanted = source.copy()
    for top in range(2, 43, side):
        for left in range(6, 56, side):
            block = (slice(top, min(top + side, 43)), slice(left, min(left + side, 56)))
            wanted[block] = np.floor(source[block].mean((0, 1)) + 0.5)
    assert np.array_equal(got, wanted)


LINE = {"start_point": point(0, 0), "end_point": point(9, 9), "thick": 1, "color": 0}


@pytest.mark.parametrize("call, name, shapes, word", [
    ("cover", "cover", [], "0 shapes"),
    ("cover", "cover", [{"type": 2}], "type 2"),
    ("cover", "cover", [{"type": 0, "rect": {"x": 60, "y": 0, "width": 8, "height": 8}}],
     "8x8 pixels at 60,0"),
    ("cover", "cover", [{"type": 0, "color": 1 << 24}], "0x1000000"),
    ("line", "line", [{**LINE, "thick": 0}], "thickness is 0"),
    ("line", "line", [{**LINE, "end_point": point(64, 0)}], "64,0"),
    ("mosaic", "mosaic", [{"blk_size": 6}], "blk_size is 6"),
])
def test_shapes_that_cannot_be_are_refused_with_their_value(vpc, call, name, shapes,  # noqa: F811
                                                            word):
    param = {"src": picture(RGB, W, H), "dst": picture(RGB, W, H), "count": len(shapes),
             name: shapes}
    assert getattr(himpi, "vpc_draw_" + call)(vpc, param, -1)[-1] == 0xA0078003
    assert word in acl.get_recent_err_msg()


@pytest.mark.parametrize("call, word", [("vpc_draw_osd", "bg_alpha"),
                                        ("vpc_set_chn_opt_attr", "HI_VPC_CHN_PRIORITY")])
def test_what_no_document_describes_is_refused_by_name(vpc, call, word):  # noqa: F811
    ret = getattr(himpi, call)(vpc, {}, *([-1] if call == "vpc_draw_osd" else []))
    assert (ret[-1] if isinstance(ret, tuple) else ret) == 200006
    assert word in acl.get_recent_err_msg()
