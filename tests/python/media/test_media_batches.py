# SPDX-License-Identifier: Apache-2.0
"""Batches of acl.media that scale, histograms used again, memory by policy, and the order of media
calls among other work of a stream."""
import cv2
import numpy as np
import pytest
from media_programs import NV12, Picture, download, jpeg_bytes, nv12_bytes, ok

import acl

media = acl.media
GREY, BILINEAR = 0, 1
pytestmark = pytest.mark.usefixtures("device_0")


class Batch:
    """Two grey pictures of 64x48, from which three regions go to outputs of 40x24."""

    regions = [(0, 0, 32, 24), (16, 8, 48, 40), (32, 24, 64, 48)]  # left, top, right, bottom

    def __init__(self, fill=7):
        self.sources = media.dvpp_create_batch_pic_desc(2)
        self.targets = media.dvpp_create_batch_pic_desc(3)
        self.inputs = [Picture(GREY, 64, 48, nv12_bytes(64, 48, seed, smooth=False)[:64 * 48],
                               desc=media.dvpp_get_pic_desc(self.sources, seed)) for seed in (0, 1)]
        self.outputs = [Picture(GREY, 40, 24, fill=fill, desc=media.dvpp_get_pic_desc(
            self.targets, i)) for i in range(3)]
        self.areas = [media.dvpp_create_roi_config(left, right - 1, top, bottom - 1)
                      for left, top, right, bottom in self.regions]
        self.config = media.dvpp_create_resize_config()
        ok(media.dvpp_set_resize_config_interpolation(self.config, BILINEAR))

    def scaled(self, index, width, height):
        left, top, right, bottom = self.regions[index]
        source = self.inputs[0 if index == 0 else 1].planes()[0][top:bottom, left:right]
        return cv2.resize(source, (width, height), interpolation=cv2.INTER_LINEAR)

    def results(self, stream):
        ok(acl.rt.synchronize_stream(stream))
        return [output.planes()[0] for output in self.outputs]


def near(got, wanted):
    return np.abs(got.astype(int) - wanted.astype(int)).max() <= 1


def test_regions_of_a_batch_are_cropped_and_scaled(channel, stream):
    batch = Batch()
    ok(media.dvpp_vpc_batch_crop_resize_async(channel, batch.sources, [1, 2], batch.targets,
                                              batch.areas, batch.config, stream))
    for index, got in enumerate(batch.results(stream)):
        assert near(got, batch.scaled(index, 40, 24)), index


def test_regions_of_a_batch_are_pasted_over_what_is_there(channel, stream):
    batch = Batch(fill=7)
    paste = [media.dvpp_create_roi_config(0, 0, 0, 0) for _ in range(3)]
    for index, area in enumerate(paste):
        ok(media.dvpp_set_roi_config(area, 2 * index, 2 * index + 15, 4, 13))
    ok(media.dvpp_vpc_batch_crop_resize_paste_async(channel, batch.sources, [1, 2], batch.targets,
                                                    batch.areas, paste, batch.config, stream))
    for index, got in enumerate(batch.results(stream)):
        wanted = np.full((24, 40), 7, np.uint8)
        wanted[4:14, 2 * index:2 * index + 16] = batch.scaled(index, 16, 10)
        assert near(got, wanted), index


def test_regions_of_a_batch_get_borders(channel, stream):
    batch = Batch()
    borders = []
    for index in range(3):
        border = media.dvpp_create_border_config()
        ok(media.dvpp_set_border_config_border_type(border, 0))
        ok(media.dvpp_set_border_config_value(border, 0, 50.0 + index))
        for side in ("top", "bottom", "left", "right"):
            ok(getattr(media, "dvpp_set_border_config_" + side)(border, 4))
        borders.append(border)
    ok(media.dvpp_vpc_batch_crop_resize_make_border_async(
        channel, batch.sources, [1, 2], batch.targets, batch.areas, borders, batch.config, stream))
    for index, got in enumerate(batch.results(stream)):
        wanted = cv2.copyMakeBorder(batch.scaled(index, 32, 16), 4, 4, 4, 4, cv2.BORDER_CONSTANT,
                                    value=50 + index)
        assert near(got, wanted), index


def test_edges_of_a_region_are_set_one_by_one(channel, stream):
    source, target = Picture(GREY, 64, 48, nv12_bytes(64, 48, smooth=False)[:64 * 48]), \
        Picture(GREY, 16, 8)
    area = media.dvpp_create_roi_config(0, 1, 0, 1)
    for side, value in (("left", 8), ("right", 23), ("top", 10), ("bottom", 17)):
        ok(getattr(media, "dvpp_set_roi_config_" + side)(area, value))
    ok(media.dvpp_vpc_crop_async(channel, source.desc, target.desc, area, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert np.array_equal(target.planes()[0], source.planes()[0][10:18, 8:24])
    ok(media.dvpp_destroy_roi_config(area))


def test_a_histogram_is_cleared_and_used_again(channel, stream):
    hist = media.dvpp_create_hist()
    assert media.dvpp_get_hist_dims(hist) == 3

    def counts():
        address, length, ret = media.dvpp_get_hist_data(hist, 0)
        ok(ret)
        return np.frombuffer(acl.util.ptr_to_bytes(address, length * 4), np.uint32).copy()

    for seed in range(2):
        source = Picture(NV12, 64, 48, nv12_bytes(64, 48, seed, smooth=False))
        ok(media.dvpp_vpc_calc_hist_async(channel, source.desc, hist, 0, stream))
        ok(acl.rt.synchronize_stream(stream))
        assert np.array_equal(counts(), np.bincount(source.planes()[0].ravel(), minlength=256))
        assert media.dvpp_get_hist_ret_code(hist) == 0
        ok(media.dvpp_clear_hist(hist))
        assert not counts().any()
    ok(media.dvpp_destroy_hist(hist))
    assert media.dvpp_clear_hist(hist) != 0


def test_memory_for_media_starts_on_a_multiple_of_128():
    for size in (1, 100, 4097, 1 << 20):
        for address in (ok(media.dvpp_malloc(size)), ok(media.dvpp_malloc_with_cfg(size, 0, None))):
            assert address % 128 == 0
            ok(acl.rt.memset(address, size, 5, size))
            ok(media.dvpp_free(address))
            assert media.dvpp_free(address) != 0, "once is enough"
    assert media.dvpp_malloc(0)[1] != 0


def test_media_calls_run_in_order_with_other_work_of_their_stream(channel, stream):
    """File in by a copy, decoded, scaled, back by a copy: nothing is waited for in between."""
    files = [jpeg_bytes(64, 48, quality=q) for q in (95, 20)]
    room = ok(media.dvpp_malloc(max(map(len, files))))
    full, half = Picture(NV12, 64, 48), Picture(NV12, 32, 24)
    config = media.dvpp_create_resize_config()
    ok(media.dvpp_set_resize_config_interpolation(config, 2))
    size = half.size
    out = [ok(acl.rt.malloc_host(size)) for _ in files]
    for file, back in zip(files, out):
        ok(acl.rt.memcpy_async(room, len(file), acl.util.bytes_to_ptr(file), len(file), 1, stream))
        ok(media.dvpp_jpeg_decode_async(channel, room, len(file), full.desc, stream))
        ok(media.dvpp_vpc_resize_async(channel, full.desc, half.desc, config, stream))
        ok(acl.rt.memcpy_async(back, size, half.address, size, 2, stream))
    ok(acl.rt.synchronize_stream(stream))
    got = [np.frombuffer(acl.util.ptr_to_bytes(back, size), np.uint8) for back in out]
    assert not np.array_equal(*got), "each file has its own result"
    assert np.array_equal(got[1], download(half.address, size))
    assert np.array_equal(got[1][:32 * 24].reshape(24, 32), full.planes()[0][::2, ::2])
