# SPDX-License-Identifier: Apache-2.0
"""Decodes one H.265 frame ten times, scales the pictures and classifies them."""
import argparse

import numpy as np
from dvpp import Dvpp, Picture
from model import Model, print_best
from session import Session, check, checked, say, stage, to_device

import acl

H265_MAIN, NV12 = 0, 1


class Vdec:
    """A decoder whose callbacks run in a thread of this program."""

    def __init__(self, session, width, height):
        self.session, self.width, self.height = session, width, height
        self.pictures, self.running = [], True
        with stage("[Vdec] class Vdec init resource stage"):
            self.thread = checked("acl.util.start_thread",
                                  acl.util.start_thread(self.reports, [100]))
            self.channel = acl.media.vdec_create_channel_desc()
            for name, value in (("channel_id", 10), ("thread_id", self.thread),
                                ("callback", self.done), ("entype", H265_MAIN),
                                ("out_pic_format", NV12)):
                call = "vdec_set_channel_desc_" + name
                check("acl.media." + call, getattr(acl.media, call)(self.channel, value))
            check("acl.media.vdec_create_channel", acl.media.vdec_create_channel(self.channel))

    def reports(self, args):
        check("acl.rt.set_context", acl.rt.set_context(self.session.context))
        while self.running:
            acl.rt.process_report(args[0])  # a time-out is no failure
        say("[Vdec] [_thread_func] _thread_func out")

    def done(self, packet, _, picture):
        check("acl.media.dvpp_destroy_stream_desc", acl.media.dvpp_destroy_stream_desc(packet))
        if acl.media.dvpp_get_pic_desc_ret_code(picture.desc) != 0:
            raise SystemExit(f"decoding failed: {acl.get_recent_err_msg()}")
        self.pictures.append(picture)
        say("[Vdec] [_callback] _callback exit success")

    def run(self, data, times):
        memory = to_device(data)
        config = acl.media.vdec_create_frame_config()
        for index in range(times):
            say(f"[Vdec] forward index:{index}")
            packet = acl.media.dvpp_create_stream_desc()
            check("acl.media.dvpp_set_stream_desc_data",
                  acl.media.dvpp_set_stream_desc_data(packet, memory))
            check("acl.media.dvpp_set_stream_desc_size",
                  acl.media.dvpp_set_stream_desc_size(packet, len(data)))
            say("[Vdec] create input stream desc success")
            picture = Picture(self.width, self.height)
            say("[Vdec] create output pic desc success")
            check("acl.media.vdec_send_frame",
                  acl.media.vdec_send_frame(self.channel, packet, picture.desc, config, picture))
            say("[Vdec] vdec_send_frame stage success")
        check("acl.media.vdec_destroy_channel", acl.media.vdec_destroy_channel(self.channel))
        self.running = False
        check("acl.util.stop_thread", acl.util.stop_thread(self.thread))
        check("acl.media.vdec_destroy_frame_config", acl.media.vdec_destroy_frame_config(config))
        check("acl.media.dvpp_free", acl.media.dvpp_free(memory))
        say("[Vdec] vdec finish!!!\n")
        return self.pictures

    def release(self):
        check("acl.media.vdec_destroy_channel_desc",
              acl.media.vdec_destroy_channel_desc(self.channel))


def classify(picture, dvpp, model):
    with stage("[Dvpp] vpc resize stage"):
        small = dvpp.resize(picture)
    with stage("[Model] create model input dataset"):
        model.take(small)
    with stage("[Model] execute stage"):
        model.execute()
    scores = model.scores()
    best = print_best(scores)
    say(f"result: class_label[{best[0]}],top1[{scores[best[0]]:f}],"
          f"top5[{np.sum(scores[best]):f}]")
    small.free()
    picture.free()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--model_path", default="./model/resnet50_aipp.om")
    parser.add_argument("--video_path", default="./data/vdec_h265_1frame_rabbit_1280x720.h265")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--times", type=int, default=10)
    args = parser.parse_args()
    with open(args.video_path, "rb") as file:
        data = file.read()
    with stage("init resource stage"):
        session = Session(args.device)
    with stage("[Model] class Model init resource stage"):
        model = Model(args.model_path)
        with stage("[Model] create model output dataset"):
            model.make_outputs()
    with stage("[Dvpp] class Dvpp init resource stage"):
        dvpp = Dvpp(session)
    vdec = Vdec(session, args.width, args.height)
    for picture in vdec.run(data, args.times):
        classify(picture, dvpp, model)
    with stage("[Sample] release source stage"):
        dvpp.release()
        say("[Dvpp] class Dvpp release source success")
        model.release()
        say("[Model] class Model release source success")
        with stage("[Vdec] release resource"):
            vdec.release()
        session.release()


if __name__ == "__main__":
    main()
