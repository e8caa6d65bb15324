# SPDX-License-Identifier: Apache-2.0
"""What tests of acl.media and acl.himpi share: device memory, descriptions, test pictures."""
import io

import numpy as np

import acl

NV12, NV21, YUV422, YUV444, RGB, BGR, RGBA = 1, 2, 3, 5, 12, 13, 16
BYTES = {0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 2, 8: 2, 9: 2, 10: 2, 11: 3, 12: 3, 13: 3,
         14: 4, 15: 4, 16: 4, 17: 4, 69: 1, 70: 1, 1000: 1, 1001: 1}
PLANES = {0: 1.0, 1: 1.5, 2: 1.5, 3: 2, 4: 2, 5: 3, 6: 3, 69: 3, 70: 3, 1000: 2, 1001: 2}


def ok(ret):
    """The value of a call, once its code is checked."""
    code = ret[-1] if isinstance(ret, tuple) else ret
    assert code == 0, (code, acl.get_recent_err_msg())
    if isinstance(ret, tuple):
        return ret[0] if len(ret) == 2 else ret[:-1]
    return None


def up(value, multiple):
    return -(-value // multiple) * multiple


def upload(data):
    data = bytes(data)
    address = ok(acl.media.dvpp_malloc(max(len(data), 1)))
    if data:
        ok(acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), 1))
    return address


def download(address, size):
    data = bytes(bytearray(size))
    ok(acl.rt.memcpy(acl.util.bytes_to_ptr(data), size, address, size, 2))
    return np.frombuffer(data, np.uint8)


class Picture:
    """Device memory and a description of it."""

    def __init__(self, pixel_format, width, height, data=None, fill=0, desc=None):
        self.format, self.width, self.height = pixel_format, width, height
        self.wstride = up(width, 16) * BYTES[pixel_format]
        self.hstride = up(height, 2)
        self.size = int(self.wstride * self.hstride * PLANES.get(pixel_format, 1))
        if data is None:
            data = bytes([fill]) * self.size
        self.address = upload(data)
        self.desc = desc or acl.media.dvpp_create_pic_desc()
        self.own = desc is None
        for name, value in (("data", self.address), ("size", self.size), ("format", pixel_format),
                            ("width", width), ("height", height), ("width_stride", self.wstride),
                            ("height_stride", self.hstride)):
            ok(getattr(acl.media, "dvpp_set_pic_desc_" + name)(self.desc, value))

    def bytes(self):
        return download(self.address, self.size)

    def planes(self):
        """The picture without padding: [Y] or [Y, UV] of semiplanar ones, [pixels] of packed."""
        data = self.bytes()
        first = data[:self.wstride * self.hstride].reshape(self.hstride, self.wstride)
        w, h = self.width, self.height
        if self.format not in PLANES:
            step = BYTES[self.format]
            return [first[:h, :w * step].reshape(h, w, step)]
        if self.format in (69, 70):
            return [data.reshape(3, self.hstride, self.wstride)[:, :h, :w]]
        out = [first[:h, :w]]
        if self.format:
            sx = 2 if self.format in (1, 2, 3, 4) else 1
            sy = 2 if self.format in (1, 2, 1000, 1001) else 1
            row = self.wstride * 2 // sx
            rest = data[self.wstride * self.hstride:].reshape(-1, row)
            cw, ch = -(-w // sx), -(-h // sy)
            out.append(rest[:ch, :cw * 2].reshape(ch, cw, 2))
        return out

    def free(self):
        ok(acl.media.dvpp_free(self.address))
        if self.own:
            ok(acl.media.dvpp_destroy_pic_desc(self.desc))


def nv12_bytes(width, height, seed=0, smooth=True):
    """A picture in the layout that Picture(NV12, ...) has, padding 0."""
    random = np.random.RandomState(seed)
    ws, hs = up(width, 16), up(height, 2)
    data = np.zeros((hs * 3 // 2, ws), np.uint8)
    if smooth:
        y, x = np.mgrid[0:height, 0:width]
        data[:height, :width] = 128 + 100 * np.sin(x / 17 + seed) * np.cos(y / 11)
        y, x = np.mgrid[0:(height + 1) // 2, 0:up(width, 2)]
        data[hs:hs + (height + 1) // 2, :up(width, 2)] = 128 + 90 * np.sin(x // 2 / 9 + y / 13
                                                                         + (x % 2) * 2)
    else:
        data[:height, :width] = random.randint(0, 256, (height, width))
        data[hs:hs + (height + 1) // 2, :up(width, 2)] = random.randint(
            0, 256, ((height + 1) // 2, up(width, 2)))
    return data.tobytes()


def rgb_picture(width, height, seed=0):
    y, x = np.mgrid[0:height, 0:width]
    parts = [127 + 120 * np.sin((x * a + y * b) / 23 + seed) for a, b in ((1, 2), (2, 1), (1, -1))]
    return np.stack(parts, -1).astype(np.uint8)


def jpeg_bytes(width, height, sampling="4:2:0", quality=90, grey=False, **options):
    from PIL import Image
    image = Image.fromarray(rgb_picture(width, height))
    if grey:
        image = image.convert("L")
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality, subsampling=sampling, **options)
    return out.getvalue()


def psnr(a, b):
    error = np.mean((a.astype(np.float64) - b.astype(np.float64)) ** 2)
    return 99.0 if error == 0 else 10 * np.log10(255 ** 2 / error)
