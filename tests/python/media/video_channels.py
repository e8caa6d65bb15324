# SPDX-License-Identifier: Apache-2.0
"""Video channels of acl.media for tests: a decoder and an encoder that keep what their callbacks
got, and the thread that callbacks run in."""
import threading
from contextlib import contextmanager

import numpy as np
from media_programs import NV12, RGB, download, ok, up, upload

import acl

H265, H264 = 0, 2
ENTYPE = {"h264": H264, "hevc": H265}


@contextmanager
def report_thread():
    """Everything started, and the thread that callbacks run in."""
    ok(acl.init())
    ok(acl.rt.set_device(0))
    context = ok(acl.rt.get_context())
    running = threading.Event()
    running.set()

    def work(_):
        acl.rt.set_context(context)
        while running.is_set():
            acl.rt.process_report(50)

    thread = ok(acl.util.start_thread(work, []))
    yield thread
    running.clear()
    ok(acl.util.stop_thread(thread))
    ok(acl.rt.reset_device(0))
    ok(acl.finalize())


class Decoder:
    """A channel, and what its callback got."""

    def __init__(self, reporter, codec="h264", out_format=NV12, params=None, **settings):
        self.results, self.out_format = [], out_format
        self.desc = acl.media.vdec_create_channel_desc()
        settings = {"channel_id": 1, "thread_id": reporter, "callback": self.callback,
                    "entype": ENTYPE[codec], "out_pic_format": out_format, **settings}
        for name, value in settings.items():
            ok(getattr(acl.media, "vdec_set_channel_desc_" + name)(self.desc, value))
        for number, value in (params or {}).items():
            ok(acl.media.vdec_set_channel_desc_param(self.desc, number, value))
        ok(acl.media.vdec_create_channel(self.desc))
        self.config = acl.media.vdec_create_frame_config()

    def callback(self, packet, picture, user_data):
        code = acl.media.dvpp_get_pic_desc_ret_code(picture) if picture else None
        message = acl.get_recent_err_msg() if code else ""
        data = None
        if picture:
            size = [getattr(acl.media, "dvpp_get_pic_desc_" + n)(picture)
                    for n in ("width", "height", "width_stride", "height_stride")]
            if code == 0 and size[0]:
                data = self.crop(acl.media.dvpp_get_pic_desc_data(picture), *size)
            ok(acl.media.dvpp_free(acl.media.dvpp_get_pic_desc_data(picture)))
            ok(acl.media.dvpp_destroy_pic_desc(picture))
        ok(acl.media.dvpp_destroy_stream_desc(packet))
        self.results.append((user_data, code, data, message))

    def crop(self, address, width, height, wstride, hstride):
        if self.out_format == RGB:
            raw = download(address, wstride * hstride).reshape(hstride, wstride)
            return raw[:height, :width * 3].reshape(height, width, 3)
        raw = download(address, wstride * hstride * 3 // 2).reshape(-1, wstride)
        chroma = raw[hstride:hstride + -(-height // 2), :up(width, 2)]
        return np.concatenate([raw[:height, :width].ravel(), chroma.ravel()])

    def send(self, data, user_data=None, size=1 << 20, skip=False, eos=False, address=None):
        packet = acl.media.dvpp_create_stream_desc()
        if data:
            ok(acl.media.dvpp_set_stream_desc_data(packet, address or upload(data)))
        ok(acl.media.dvpp_set_stream_desc_size(packet, len(data)))
        ok(acl.media.dvpp_set_stream_desc_eos(packet, int(eos)))
        if eos and not data:  # the end has no callback
            code = acl.media.vdec_send_frame(self.desc, packet, 0, self.config, user_data)
            ok(acl.media.dvpp_destroy_stream_desc(packet))
            return code
        if skip:
            return acl.media.vdec_send_skipped_frame(self.desc, packet, self.config, user_data)
        picture = acl.media.dvpp_create_pic_desc()
        ok(acl.media.dvpp_set_pic_desc_data(picture, ok(acl.media.dvpp_malloc(size))))
        ok(acl.media.dvpp_set_pic_desc_size(picture, size))
        ok(acl.media.dvpp_set_pic_desc_format(picture, self.out_format))
        return acl.media.vdec_send_frame(self.desc, packet, picture, self.config, user_data)

    def close(self):
        ok(acl.media.vdec_destroy_channel(self.desc))
        ok(acl.media.vdec_destroy_channel_desc(self.desc))
        ok(acl.media.vdec_destroy_frame_config(self.config))
        return self.results


class Encoder:
    def __init__(self, reporter, codec="h264", width=128, height=96, gop=5, by_number=False,
                 **settings):
        self.packets, self.width, self.height = [], width, height
        self.desc = acl.media.venc_create_channel_desc()
        if by_number:
            numbers = {0: reporter, 1: self.callback, 2: NV12, 3: ENTYPE[codec], 4: width,
                       5: height, 6: gop, **settings.get("numbers", {})}
            for number, value in numbers.items():
                ok(acl.media.venc_set_channel_desc_param(self.desc, number, value))
                assert ok(acl.media.venc_get_channel_desc_param(self.desc, number)) == value
        else:
            settings = {"thread_id": reporter, "callback": self.callback, "entype": ENTYPE[codec],
                        "pic_format": NV12, "key_frame_interval": gop, "pic_width": width,
                        "pic_height": height, **settings}
            for name, value in settings.items():
                ok(getattr(acl.media, "venc_set_channel_desc_" + name)(self.desc, value))
        ok(acl.media.venc_create_channel(self.desc))
        self.config = acl.media.venc_create_frame_config()

    def callback(self, picture, packet, user_data):
        size = acl.media.dvpp_get_stream_desc_size(packet)
        self.packets.append((user_data, download(acl.media.dvpp_get_stream_desc_data(packet),
                                                 size).tobytes()))

    def send(self, data, user_data=None, key=0, width_stride=0):
        picture = acl.media.dvpp_create_pic_desc()
        ok(acl.media.dvpp_set_pic_desc_width_stride(picture, width_stride))
        ok(acl.media.dvpp_set_pic_desc_data(picture, upload(data)))
        ok(acl.media.dvpp_set_pic_desc_size(picture, len(data)))
        ok(acl.media.venc_set_frame_config_eos(self.config, 0))
        ok(acl.media.venc_set_frame_config_force_i_frame(self.config, key))
        assert acl.media.venc_get_frame_config_force_i_frame(self.config) == key
        return acl.media.venc_send_frame(self.desc, picture, 0, self.config, user_data)

    def close(self):
        ok(acl.media.venc_set_frame_config_eos(self.config, 1))
        ok(acl.media.venc_send_frame(self.desc, 0, 0, self.config, 0))
        ok(acl.media.venc_destroy_channel(self.desc))
        ok(acl.media.venc_destroy_channel_desc(self.desc))
        ok(acl.media.venc_destroy_frame_config(self.config))
        return self.packets


def key_frames(codec, packets):
    kinds = [{u[3] & 31 if codec == "h264" else u[3] >> 1 & 63
              for u in (b"\0\0\1" + p for p in data.split(b"\0\0\1")[1:])} for _, data in packets]
    return [i for i, found in enumerate(kinds) if found & ({5} if codec == "h264" else {19, 20})]
