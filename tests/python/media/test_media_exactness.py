# SPDX-License-Identifier: Apache-2.0
"""Decoders of pictures, bit by bit: JPEG against libjpeg-turbo's own YUV samples in every sampling,
PNG of every kind, interlaced too; and what encoders keep of a picture."""
import io
import shutil
import struct
import subprocess
import zlib

import numpy as np
import pytest
import video_files
from media_programs import NV12, YUV422, YUV444, Picture, jpeg_bytes, ok, psnr, rgb_picture, upload
from PIL import Image
from video_channels import Encoder, key_frames, report_thread

import acl

LAYOUTS = {"4:2:0": (NV12, 2, 2), "4:2:2": (YUV422, 2, 1), "4:4:4": (YUV444, 1, 1)}
RAW_JPEG = r"""
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
// Standard input to standard output: Y, U and V as libjpeg-turbo has them, cut to the picture.
int main(void) {
  static unsigned char file[64 << 20];
  const size_t size = fread(file, 1, sizeof file, stdin);
  struct jpeg_decompress_struct d;
  struct jpeg_error_mgr errors;
  d.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, file, size);
  jpeg_read_header(&d, TRUE);
  d.raw_data_out = TRUE;
  d.out_color_space = d.jpeg_color_space;
  jpeg_start_decompress(&d);
  unsigned char* plane[3] = {0};
  size_t stride[3], rows[3];
  for (int c = 0; c < d.num_components; ++c) {
    stride[c] = d.comp_info[c].width_in_blocks * 8 + 64;
    rows[c] = d.comp_info[c].v_samp_factor * 8;
    plane[c] = malloc(stride[c] * (d.comp_info[c].height_in_blocks * 8 + 64));
  }
  for (int group = 0; d.output_scanline < d.output_height; ++group) {
    JSAMPROW lines[3][32];
    JSAMPARRAY planes[3] = {lines[0], lines[1], lines[2]};
    for (int c = 0; c < d.num_components; ++c)
      for (size_t y = 0; y < rows[c]; ++y)
        lines[c][y] = plane[c] + (group * rows[c] + y) * stride[c];
    jpeg_read_raw_data(&d, planes, d.max_v_samp_factor * 8);
  }
  for (int c = 0; c < d.num_components; ++c) {
    const unsigned w = d.comp_info[c].downsampled_width, h = d.comp_info[c].downsampled_height;
    for (unsigned y = 0; y < h; ++y) fwrite(plane[c] + y * stride[c], 1, w, stdout);
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def raw_jpeg(tmp_path_factory):
    """libjpeg-turbo called directly: the planes of a file."""
    folder = tmp_path_factory.mktemp("raw_jpeg")
    (folder / "raw.c").write_text(RAW_JPEG)
    subprocess.run([shutil.which("cc"), "-O1", "raw.c", "-o", "raw", "-ljpeg"], cwd=folder,
                   check=True)

    def planes(data):
        return np.frombuffer(subprocess.run([folder / "raw"], input=data, stdout=subprocess.PIPE,
                                            check=True).stdout, np.uint8)
    return planes


def decode(channel, stream, data, picture, call="dvpp_jpeg_decode_async"):
    address = upload(data)
    ok(getattr(acl.media, call)(channel, address, len(data), picture.desc, stream))
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.media.dvpp_free(address))


SIZES = [(1, 1), (2, 2), (3, 5), (8, 8), (17, 9), (33, 31), (64, 48), (641, 359), (1920, 1080),
         (8191, 9), (9, 8192)]


@pytest.mark.parametrize("sampling", [*LAYOUTS, "grey"])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_samples_are_libjpeg_turbos_in_every_plane(channel, stream, raw_jpeg, sampling,
                                                        progressive):
    layout, sx, sy = LAYOUTS.get(sampling, (0, 1, 1))
    for width, height in SIZES:
        grey = sampling == "grey"
        data = jpeg_bytes(width, height, "4:4:4" if grey else sampling, grey=grey,
                          progressive=progressive)
        picture = Picture(layout, width, height)
        decode(channel, stream, data, picture)
        wanted, count = raw_jpeg(data), width * height
        planes = picture.planes()
        assert np.array_equal(planes[0].ravel(), wanted[:count]), (width, height)
        if not grey:
            chroma = wanted[count:].reshape(2, -(-height // sy), -(-width // sx))
            assert np.array_equal(planes[1], np.moveaxis(chroma, 0, -1)), (width, height)
        picture.free()


@pytest.mark.parametrize("size", [(8192, 16), (16, 8192), (8192, 8192)])
def test_the_largest_jpeg_files_decode(channel, stream, raw_jpeg, size):
    width, height = size
    image = Image.new("RGB", size, (90, 120, 200))
    image.paste(Image.fromarray(rgb_picture(16, 16)), (width - 16, height - 16))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    picture = Picture(NV12, width, height)
    decode(channel, stream, out.getvalue(), picture)
    wanted = raw_jpeg(out.getvalue())
    luma, chroma = picture.planes()
    assert np.array_equal(luma.ravel(), wanted[:width * height])
    planes = wanted[width * height:].reshape(2, height // 2, width // 2)
    assert all(np.array_equal(chroma[..., c], planes[c]) for c in range(2))
    picture.free()


@pytest.mark.parametrize("size", [(8192, 2), (2, 8192), (8192, 8192)])
def test_the_largest_png_files_decode(channel, stream, size):
    width, height = size
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[-1], pixels[:, -1] = np.arange(width)[:, None] & 255, np.arange(height)[:, None] & 255
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=1)
    picture = Picture(12, width, height)
    decode(channel, stream, out.getvalue(), picture, "dvpp_png_decode_async")
    assert np.array_equal(picture.planes()[0], pixels)
    picture.free()


def test_a_picture_larger_than_the_unit_takes_is_refused(channel, stream):
    out = io.BytesIO()
    Image.new("L", (8200, 16)).save(out, "JPEG")
    data = out.getvalue()
    *_, ret = acl.media.dvpp_jpeg_get_image_info(acl.util.bytes_to_ptr(data), len(data))
    assert ret != 0 and "8200x16" in acl.get_recent_err_msg()


def test_exif_is_skipped_and_the_picture_comes_as_it_is_stored(channel, stream, raw_jpeg):
    image = Image.fromarray(rgb_picture(48, 32))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a viewer
    exif[0x010E] = "x" * 5000
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90, exif=exif)
    data = out.getvalue()
    info = acl.media.dvpp_jpeg_get_image_info(acl.util.bytes_to_ptr(data), len(data))
    assert info[:2] == (48, 32)
    picture = Picture(NV12, 48, 32)
    decode(channel, stream, data, picture)
    assert np.array_equal(picture.planes()[0].ravel(), raw_jpeg(data)[:48 * 32])


def png_bytes(pixels, depth, color_type, interlaced, palette=b""):
    """A PNG file of raw sample values [h, w, channels]; rows are unfiltered."""
    height, width, channels = pixels.shape

    def rows(part):
        out = b""
        for row in part.reshape(part.shape[0], -1):
            bits = np.unpackbits(row.astype(">u2").view(np.uint8).reshape(-1, 2), axis=1)
            out += b"\0" + np.packbits(bits[:, 16 - depth:].ravel()).tobytes()
        return out

    if interlaced:
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2),
                  (0, 1, 2, 2), (1, 0, 2, 1)]
        parts = [pixels[top::down, left::across] for top, left, down, across in passes]
        data = b"".join(rows(part) for part in parts if part.size)
    else:
        data = rows(pixels)

    def chunk(name, body):
        crc = struct.pack(">I", zlib.crc32(name + body))
        return struct.pack(">I", len(body)) + name + body + crc

    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + (chunk(b"PLTE", palette) if palette else b"")
            + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


PNG_KINDS = {"grey 1": (0, 1, 1), "grey 2": (0, 2, 1), "grey 4": (0, 4, 1), "grey 8": (0, 8, 1),
             "grey 16": (0, 16, 1), "RGB 8": (2, 8, 3), "RGB 16": (2, 16, 3),
             "palette 1": (3, 1, 1), "palette 4": (3, 4, 1), "palette 8": (3, 8, 1),
             "grey alpha 8": (4, 8, 2), "RGBA 8": (6, 8, 4), "RGBA 16": (6, 16, 4)}


@pytest.mark.parametrize("kind", list(PNG_KINDS))
@pytest.mark.parametrize("interlaced", [False, True])
def test_png_of_every_kind_decodes_exactly(channel, stream, kind, interlaced):
    color_type, depth, channels = PNG_KINDS[kind]
    random = np.random.RandomState(depth)
    for width, height in ((2, 2), (9, 5), (33, 17)):
        pixels = random.randint(0, 1 << depth, (height, width, channels))
        palette = random.randint(0, 256, ((1 << depth), 3)).astype(np.uint8)
        data = png_bytes(pixels, depth, color_type, interlaced,
                         palette.tobytes() if color_type == 3 else b"")
        if color_type == 3:
            rgb = palette[pixels[..., 0]]
        else:
            full = pixels * (255 // ((1 << depth) - 1)) if depth < 8 else pixels >> (depth - 8)
            rgb = full[..., :3] if channels >= 3 else np.repeat(full[..., :1], 3, -1)
        picture = Picture(12, width, height)
        decode(channel, stream, data, picture, "dvpp_png_decode_async")
        assert np.array_equal(picture.planes()[0], rgb), (width, height)
        picture.free()
        if channels in (2, 4):
            picture = Picture(16, width, height)
            decode(channel, stream, data, picture, "dvpp_png_decode_async")
            assert np.array_equal(picture.planes()[0][..., 3], full[..., -1])
            picture.free()


# docs/media.md has these figures: luma of rgb_picture, 320x240.
JPEG_PSNR = {10: 34.9, 30: 40.9, 50: 44.4, 75: 48.6, 90: 51.5, 100: 58.9}


@pytest.mark.parametrize("level", list(JPEG_PSNR))
def test_jpeg_keeps_what_the_table_says(channel, stream, level):
    luma = np.asarray(Image.fromarray(rgb_picture(320, 240)).convert("L"))
    picture = Picture(0, 320, 240, data=luma.tobytes())
    config = acl.media.dvpp_create_jpege_config()
    ok(acl.media.dvpp_set_jpege_config_level(config, level))
    room = ok(acl.media.dvpp_jpeg_predict_enc_size(picture.desc, config))
    out, length = ok(acl.media.dvpp_malloc(room)), np.array([room], np.uint32)
    ok(acl.media.dvpp_jpeg_encode_async(channel, picture.desc, out,
                                        acl.util.numpy_to_ptr(length), config, stream))
    ok(acl.rt.synchronize_stream(stream))
    file = acl.util.ptr_to_bytes(out, int(length[0]))
    got = psnr(np.asarray(Image.open(io.BytesIO(file))), luma)
    assert abs(got - JPEG_PSNR[level]) < 1, got


# All planes of ffmpeg's testsrc2, 320x240, 50 frames, constant rate.
VIDEO_PSNR = {("h264", 250): 40.2, ("h264", 1000): 57.6, ("hevc", 250): 41.6, ("hevc", 1000): 59.8}


@pytest.mark.parametrize("codec, rate", list(VIDEO_PSNR))
def test_video_keeps_what_the_table_says(codec, rate):
    raw = video_files.run(["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-frames:v", "50",
                           "-pix_fmt", "nv12", "-f", "rawvideo", "-"])
    frames = np.frombuffer(raw, np.uint8).reshape(50, -1)
    with report_thread() as thread:
        encoder = Encoder(thread, codec, width=320, height=240, gop=25, src_rate=25,
                          max_bit_rate=rate, rc_mode=2)
        for frame in frames:
            ok(encoder.send(frame.tobytes()))
        packets = encoder.close()
    decoded = video_files.decode(codec, b"".join(data for _, data in packets), 320, 240)
    assert len(decoded) == 50 and key_frames(codec, packets) == [0, 25]
    assert abs(psnr(decoded, frames) - VIDEO_PSNR[codec, rate]) < 2
