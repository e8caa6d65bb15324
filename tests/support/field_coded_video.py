# SPDX-License-Identifier: Apache-2.0
"""H.264 whose pictures are two fields each, written bit by bit: no encoder at hand makes such
streams (x264 mixes fields and frames inside a picture). Every macroblock is I_PCM, so a decoder
must give back the very samples."""
import numpy as np

TOP, BOTTOM = 0, 1


class Bits:
    def __init__(self):
        self.text = ""

    def u(self, width, value):
        self.text += f"{value:0{width}b}"
        return self

    def ue(self, *values):
        for value in values:
            code = f"{value + 1:b}"
            self.text += "0" * (len(code) - 1) + code
        return self

    def align(self):
        self.text += "0" * (-len(self.text) % 8)
        return self

    def bytes(self, data):
        self.text += "".join(f"{byte:08b}" for byte in data)
        return self

    def nal(self, reference, kind):
        """With start code, stop bit and the bytes that keep start codes out of the data."""
        self.text += "1"
        self.align()
        raw = int(self.text, 2).to_bytes(len(self.text) // 8, "big")
        out = bytearray([0, 0, 0, 1, reference << 5 | kind])
        zeros = 0
        for byte in raw:
            if zeros == 2 and byte <= 3:
                out.append(3)
                zeros = 0
            out.append(byte)
            zeros = zeros + 1 if byte == 0 else 0
        return bytes(out)


def parameter_sets(width, height):
    """Main profile, CAVLC, frame_mbs_only_flag 0, pictures shown as they are decoded."""
    sps = Bits().u(8, 77).u(8, 0).u(8, 30).ue(0, 0, 2, 1).u(1, 0)
    sps.ue(width // 16 - 1, height // 32 - 1).u(1, 0).u(1, 0).u(1, 1).u(1, 0).u(1, 0)
    pps = Bits().ue(0, 0).u(1, 0).u(1, 0).ue(0, 0, 0).u(1, 0).u(2, 0).ue(0, 0, 0).u(1, 1)
    pps.u(1, 0).u(1, 0)
    return sps.nal(3, 7) + pps.nal(3, 8)


def field(luma, chroma, frame, parity):
    """One field as a slice: field_pic_flag 1, bottom_field_flag `parity`. The first field of all
    is an IDR picture."""
    idr = frame == 0 and parity == TOP
    bits = Bits().ue(0, 7, 0).u(4, frame % 16).u(1, 1).u(1, parity)
    if idr:
        bits.ue(0).u(2, 0)
    else:
        bits.u(1, 0)
    bits.ue(0, 1)  # no change of QP, no deblocking
    for y in range(0, luma.shape[0], 16):
        for x in range(0, luma.shape[1], 16):
            bits.ue(25).align().bytes(luma[y:y + 16, x:x + 16].tobytes())
            for plane in range(2):
                bits.bytes(chroma[y // 2:y // 2 + 8, x // 2:x // 2 + 8, plane].tobytes())
    return bits.nal(3, 5 if idr else 1)


def make(width, height, frames):
    """Access units, one a field, top fields first; and the pictures as NV12 bytes."""
    assert width % 16 == 0 and height % 32 == 0
    random = np.random.RandomState(3)
    units, pictures = [], []
    for frame in range(frames):
        luma = random.randint(0, 256, (height, width)).astype(np.uint8)
        chroma = random.randint(0, 256, (height // 2, width // 2, 2)).astype(np.uint8)
        for parity in (TOP, BOTTOM):
            units.append(field(luma[parity::2], chroma[parity::2], frame, parity))
        pictures.append(np.concatenate([luma.ravel(), chroma.ravel()]))
    units[0] = parameter_sets(width, height) + units[0]
    return units, np.stack(pictures)
