# SPDX-License-Identifier: Apache-2.0
"""Memory of media work: good and bad input again and again leaves nothing behind, and files that
promise huge pictures take none."""
import program
from build_tree import SUPPORT

LOOP = """
import io, resource
import acl, numpy as np
from PIL import Image
import video_files
from media_programs import NV12, jpeg_bytes, ok, rgb_picture
himpi = acl.himpi
ok(acl.init()), ok(acl.rt.set_device(0)), ok(himpi.sys_init())
png = io.BytesIO()
Image.fromarray(rgb_picture(96, 64)).save(png, "PNG")
video = video_files.units("h264", video_files.make("h264", 128, 96, 4, ("-bf", "0")))
random = np.random.RandomState(1)

def hurt(data):
    data = bytearray(data)
    for at in random.randint(0, len(data), 8):
        data[at] ^= 1 << random.randint(8)
    return bytes(data)

def put(data):
    address = ok(himpi.dvpp_malloc(0, len(data)))
    ok(acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), 1))
    return address

def decode(kind, packets):
    ok(himpi.vdec_create_chn(0, {"type": kind, "mode": 1}))
    ok(himpi.vdec_start_recv_stream(0))
    out = ok(himpi.dvpp_malloc(0, 1 << 16))
    blocks = [put(packet) for packet in packets]
    for packet, block in zip(packets, blocks):
        ok(himpi.vdec_send_stream(0, {"len": len(packet), "addr": block, "end_of_frame": 1,
                                      "need_display": 1},
                                  {"pixel_format": NV12, "vir_addr": out, "buffer_size": 1 << 16},
                                  -1))
    ok(himpi.vdec_destroy_chn(0))
    for block in [*blocks, out]:
        ok(himpi.dvpp_free(block))

def round():
    for data in (jpeg_bytes(96, 64), hurt(jpeg_bytes(96, 64)),
                 hurt(jpeg_bytes(96, 64, progressive=True))):
        decode(26, [data])
    decode(96, video)
    decode(96, [hurt(packet) for packet in video])
    for data in (png.getvalue(), hurt(png.getvalue())):
        ok(himpi.pngd_create_chn(0, {}))
        out, block = ok(himpi.dvpp_malloc(0, 1 << 16)), put(data)
        himpi.pngd_send_stream(0, {"type": 268, "addr": block, "len": len(data)},
                               {"picture_address": out, "picture_buffer_size": 1 << 16,
                                "picture_format": 12}, -1)
        himpi.pngd_get_image_data(0, -1)
        ok(himpi.pngd_destroy_chn(0))
        ok(himpi.dvpp_free(out)), ok(himpi.dvpp_free(block))

def free_memory():
    return acl.rt.get_mem_info(1)[0]

for _ in range(5):
    round()
before, free = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, free_memory()
for _ in range(40):
    round()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, free - free_memory())
"""

BOMBS = """
import resource, struct, zlib
import acl
from media_programs import jpeg_bytes, ok
ok(acl.init()), ok(acl.rt.set_device(0))
acl.media.dvpp_jpeg_get_image_info(acl.util.bytes_to_ptr(jpeg_bytes(8, 8)), 100)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

refused = 0
for side in (8193, 65500):
    for progressive in (False, True):
        jpeg = jpeg_bytes(64, 48, progressive=progressive)
        at = jpeg.index(b"\\xff\\xc2" if progressive else b"\\xff\\xc0") + 5
        jpeg = jpeg[:at] + struct.pack(">HH", side, side) + jpeg[at + 4:]
        refused += acl.media.dvpp_jpeg_get_image_info(acl.util.bytes_to_ptr(jpeg),
                                                      len(jpeg))[-1] != 0
    png = (b"\\x89PNG\\r\\n\\x1a\\n"
           + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
           + chunk(b"IDAT", zlib.compress(bytes(1 << 22))) + chunk(b"IEND", b""))
    refused += acl.media.dvpp_png_get_image_info(acl.util.bytes_to_ptr(png), len(png))[-1] != 0
print(refused, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_good_and_bad_input_again_and_again_leaves_nothing_behind():
    grown, device = program.run(LOOP, PYTHONPATH=paths())
    assert int(grown) < 16 * 1024, f"{grown} KiB more after 40 rounds"
    assert int(device) == 0, f"{device} bytes of device memory are missing"


def test_files_that_promise_huge_pictures_take_no_memory():
    refused, grown = program.run(BOMBS, PYTHONPATH=paths())
    assert int(refused) == 6
    assert int(grown) < 24 * 1024, f"{grown} KiB"


def paths():
    import os

    import acl
    package = os.path.dirname(os.path.dirname(os.path.abspath(acl.__file__)))
    return f"{package}:{SUPPORT}"
