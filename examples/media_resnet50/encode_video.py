# SPDX-License-Identifier: Apache-2.0
"""Encodes one NV12 picture several times: an H.265 stream of a still picture."""
import argparse
import re

from session import Session, check, say, to_device, to_host

import acl

H265_MAIN, NV12 = 0, 1


class Venc:
    """An encoder whose callbacks run in a thread of this program."""

    def __init__(self, session, width, height, out):
        self.session, self.out, self.running = session, out, True
        self.thread, ret = acl.util.start_thread(self.reports, [session.context, 1000])
        check("acl.util.start_thread", ret)
        say("[INFO] start_thread", self.thread, ret)
        self.channel = acl.media.venc_create_channel_desc()
        for name, value in (("thread_id", self.thread), ("callback", self.done),
                            ("entype", H265_MAIN), ("pic_format", NV12),
                            ("key_frame_interval", 16), ("pic_height", height),
                            ("pic_width", width)):
            call = "venc_set_channel_desc_" + name
            check("acl.media." + call, getattr(acl.media, call)(self.channel, value))
        say("[INFO] set venc channel desc")
        check("acl.media.venc_create_channel", acl.media.venc_create_channel(self.channel))
        self.config = acl.media.venc_create_frame_config()
        say("[INFO] create_frame_config")

    def reports(self, args):
        context, timeout = args
        say("[INFO] cb_thread_func args_list =", context, timeout, self.running)
        check("acl.rt.set_context", acl.rt.set_context(context))
        while self.running:
            acl.rt.process_report(timeout)  # a time-out is no failure

    def done(self, _, packet, __):
        size = acl.media.dvpp_get_stream_desc_size(packet)
        say("[INFO] [venc] stream_data size", size)
        self.out.write(to_host(acl.media.dvpp_get_stream_desc_data(packet), size))

    def set_frame(self, eos, i_frame):
        check("acl.media.venc_set_frame_config_eos",
              acl.media.venc_set_frame_config_eos(self.config, eos))
        check("acl.media.venc_set_frame_config_force_i_frame",
              acl.media.venc_set_frame_config_force_i_frame(self.config, i_frame))

    def run(self, data, count):
        memory = to_device(data)
        picture = acl.media.dvpp_create_pic_desc()
        check("acl.media.dvpp_set_pic_desc_data",
              acl.media.dvpp_set_pic_desc_data(picture, memory))
        check("acl.media.dvpp_set_pic_desc_size",
              acl.media.dvpp_set_pic_desc_size(picture, len(data)))
        say("[INFO] set pic desc size")
        self.set_frame(eos=0, i_frame=0)
        say("[INFO] set frame config")
        for _ in range(count):
            check("acl.media.venc_send_frame",
                  acl.media.venc_send_frame(self.channel, picture, 0, self.config, None))
        self.set_frame(eos=1, i_frame=0)
        say("[INFO] venc send frame eos")
        ret = acl.media.venc_send_frame(self.channel, 0, 0, self.config, None)
        check("acl.media.venc_send_frame", ret)
        # Destroying the channel waits for every picture, and for its callback.
        check("acl.media.venc_destroy_channel", acl.media.venc_destroy_channel(self.channel))
        say("[INFO] acl.media.venc_send_frame ret=", ret)
        check("acl.media.dvpp_destroy_pic_desc", acl.media.dvpp_destroy_pic_desc(picture))
        check("acl.media.dvpp_free", acl.media.dvpp_free(memory))
        say("[INFO] venc process success")

    def release(self):
        check("acl.media.venc_destroy_channel_desc",
              acl.media.venc_destroy_channel_desc(self.channel))
        check("acl.media.venc_destroy_frame_config",
              acl.media.venc_destroy_frame_config(self.config))
        self.running = False
        say("[INFO] stop_thread", ret := acl.util.stop_thread(self.thread))
        check("acl.util.stop_thread", ret)
        say("[INFO] thread join")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--input", default="./data/dvpp_venc_128x128_nv12.yuv",
                        help="an NV12 picture; its name holds its size")
    parser.add_argument("--output", default="./data/output.h265")
    parser.add_argument("--venc_cnt", type=int, default=16, help="how often it is encoded")
    args = parser.parse_args()
    size = re.search(r"(\d+)x(\d+)", args.input)
    if not size:
        raise SystemExit(f"{args.input}: the name holds no size like 128x128")
    with open(args.input, "rb") as file:
        data = file.read()
    session = Session(args.device)
    with open(args.output, "wb") as out:
        venc = Venc(session, int(size[1]), int(size[2]), out)
        venc.run(data, args.venc_cnt)
        say("[INFO] venc_process end")
        venc.release()
    session.release()


if __name__ == "__main__":
    main()
