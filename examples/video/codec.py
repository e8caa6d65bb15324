# SPDX-License-Identifier: Apache-2.0
"""The video decoder and encoder of acl.media, each with callbacks in a thread of the program."""
from dvpp import Picture
from session import check, checked, to_device, to_host

import acl

H265_MAIN, NV12 = 0, 1


def frames(data):
    """The bytes of each picture of an H.265 stream: decoders take one at a time."""
    starts, at = [], data.find(b"\0\0\1")
    while at >= 0:
        starts.append(at)
        at = data.find(b"\0\0\1", at + 3)
    found, begin, has_slice = [], 0, False
    for at in starts:
        kind = data[at + 3] >> 1 & 63
        is_slice = kind < 32
        begins_picture = is_slice and data[at + 5] & 0x80 or 32 <= kind <= 35
        if begins_picture and has_slice:
            found.append(data[begin:at])
            begin, has_slice = at, False
        has_slice |= is_slice
    return found + [data[begin:]]


class Reports:
    """The thread in which callbacks run."""

    def __init__(self, context):
        self.context, self.running = context, True
        self.thread = checked("acl.util.start_thread", acl.util.start_thread(self.run, []))

    def run(self, _):
        check("acl.rt.set_context", acl.rt.set_context(self.context))
        while self.running:
            acl.rt.process_report(50)  # a time-out is no failure

    def stop(self):
        self.running = False
        check("acl.util.stop_thread", acl.util.stop_thread(self.thread))


def channel_desc(kind, values):
    desc = getattr(acl.media, f"{kind}_create_channel_desc")()
    for name, value in values.items():
        call = f"{kind}_set_channel_desc_{name}"
        check("acl.media." + call, getattr(acl.media, call)(desc, value))
    check("create_channel", getattr(acl.media, f"{kind}_create_channel")(desc))
    return desc


class Decoder:
    def __init__(self, thread, width, height):
        self.width, self.height, self.pictures, self.inputs = width, height, [], []
        self.channel = channel_desc("vdec", {
            "channel_id": 1, "thread_id": thread, "callback": self.done, "entype": H265_MAIN,
            "out_pic_format": NV12})

    def done(self, packet, _, picture):
        self.inputs.append(acl.media.dvpp_get_stream_desc_data(packet))
        check("acl.media.dvpp_destroy_stream_desc", acl.media.dvpp_destroy_stream_desc(packet))
        check("decoding a frame", acl.media.dvpp_get_pic_desc_ret_code(picture.desc))
        self.pictures.append(picture)

    def run(self, packets):
        """The pictures of all packets, in the order in which they are shown."""
        config = acl.media.vdec_create_frame_config()
        for data in packets:
            packet = acl.media.dvpp_create_stream_desc()
            for name, value in (("data", to_device(data)), ("size", len(data))):
                call = "dvpp_set_stream_desc_" + name
                check("acl.media." + call, getattr(acl.media, call)(packet, value))
            picture = Picture(self.width, self.height)
            check("acl.media.vdec_send_frame",
                  acl.media.vdec_send_frame(self.channel, packet, picture.desc, config, picture))
        # Destroying the channel waits for every picture, and for its callback.
        check("acl.media.vdec_destroy_channel", acl.media.vdec_destroy_channel(self.channel))
        check("acl.media.vdec_destroy_frame_config", acl.media.vdec_destroy_frame_config(config))
        check("acl.media.vdec_destroy_channel_desc",
              acl.media.vdec_destroy_channel_desc(self.channel))
        return self.pictures

    def release(self):
        for address in self.inputs:
            check("acl.media.dvpp_free", acl.media.dvpp_free(address))


class Encoder:
    def __init__(self, thread, width, height, out):
        self.out = out
        self.channel = channel_desc("venc", {
            "thread_id": thread, "callback": self.done, "entype": H265_MAIN, "pic_format": NV12,
            "key_frame_interval": 16, "pic_width": width, "pic_height": height})
        self.config = acl.media.venc_create_frame_config()

    def done(self, _, packet, __):
        size = acl.media.dvpp_get_stream_desc_size(packet)
        self.out.write(to_host(acl.media.dvpp_get_stream_desc_data(packet), size))

    def send(self, picture, end=0):
        check("acl.media.venc_set_frame_config_eos",
              acl.media.venc_set_frame_config_eos(self.config, end))
        check("acl.media.venc_send_frame", acl.media.venc_send_frame(
            self.channel, picture.desc if picture else 0, 0, self.config, None))

    def finish(self):
        self.send(None, end=1)
        check("acl.media.venc_destroy_channel", acl.media.venc_destroy_channel(self.channel))
        check("acl.media.venc_destroy_channel_desc",
              acl.media.venc_destroy_channel_desc(self.channel))
        check("acl.media.venc_destroy_frame_config",
              acl.media.venc_destroy_frame_config(self.config))
