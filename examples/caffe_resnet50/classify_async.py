# SPDX-License-Identifier: Apache-2.0
"""Classifies the pictures of a folder with a Caffe ResNet-50 by queued runs; callbacks in a thread
of their own take the results."""
import argparse

from pictures import (
    check,
    checked,
    destroy_dataset,
    fill,
    list_pictures,
    make_dataset,
    print_best,
    read,
    read_picture,
)

import acl

NON_BLOCKING, BLOCKING = 0, 1
REPORT_TIMEOUT = 507012  # nothing came within the time given: the loop goes on


class AsyncNet:
    def __init__(self, device_id, model_path, callback_interval, memory_pool):
        print("init resource stage:")
        self.device_id = device_id
        self.callback_interval = callback_interval
        self.memory_pool = memory_pool
        self.exit = False
        check("acl.init", acl.init())
        check("acl.rt.set_device", acl.rt.set_device(device_id))
        self.context = checked("acl.rt.create_context", acl.rt.create_context(device_id))
        self.stream = checked("acl.rt.create_stream", acl.rt.create_stream())
        self.model_id = checked("acl.mdl.load_from_file", acl.mdl.load_from_file(model_path))
        self.desc = acl.mdl.create_desc()
        check("acl.mdl.get_desc", acl.mdl.get_desc(self.desc, self.model_id))
        self.pool = []
        print("init resource stage success")

    def fill_pool(self, pictures):
        """Every block of the pool is the input and the output of one run at a time."""
        print("data interaction from host to device")
        for i in range(self.memory_pool):
            inputs = make_dataset([acl.mdl.get_input_size_by_index(self.desc, 0)])
            outputs = make_dataset([acl.mdl.get_output_size_by_index(self.desc, 0)])
            fill(inputs, pictures[i % len(pictures)])
            self.pool.append((inputs, outputs))
        print("data interaction from host to device success")

    def process_reports(self, args):
        context, timeout = args
        check("acl.rt.set_context", acl.rt.set_context(context))
        while not self.exit:
            ret = acl.rt.process_report(timeout)
            if ret not in (0, REPORT_TIMEOUT) and not self.exit:
                check("acl.rt.process_report", ret)
        print("exit acl.rt.process_report")

    def take_results(self, finished):
        print("callback func stage:")
        for _, outputs in finished:
            print()
            print_best(read(outputs))
        print("callback func stage success")

    def run(self, times):
        print("execute stage:")
        thread = checked("acl.util.start_thread",
                         acl.util.start_thread(self.process_reports, [self.context, 50]))
        check("acl.rt.subscribe_report", acl.rt.subscribe_report(thread, self.stream))
        waiting = []
        for i in range(times):
            inputs, outputs = self.pool[i % self.memory_pool]
            check("acl.mdl.execute_async",
                  acl.mdl.execute_async(self.model_id, inputs, outputs, self.stream))
            waiting.append((inputs, outputs))
            if self.callback_interval and (i + 1) % self.callback_interval == 0:
                check("acl.rt.launch_callback",
                      acl.rt.launch_callback(self.take_results, waiting, BLOCKING, self.stream))
                waiting = []
        print("execute stage success")
        check("acl.rt.synchronize_stream", acl.rt.synchronize_stream(self.stream))
        self.exit = True
        check("acl.rt.unsubscribe_report", acl.rt.unsubscribe_report(thread, self.stream))
        check("acl.util.stop_thread", acl.util.stop_thread(thread))

    def release(self):
        print("release source stage:")
        for pair in self.pool:
            for dataset in pair:
                destroy_dataset(dataset)
        check("acl.mdl.destroy_desc", acl.mdl.destroy_desc(self.desc))
        check("acl.mdl.unload", acl.mdl.unload(self.model_id))
        check("acl.rt.destroy_stream", acl.rt.destroy_stream(self.stream))
        check("acl.rt.destroy_context", acl.rt.destroy_context(self.context))
        check("acl.rt.reset_device", acl.rt.reset_device(self.device_id))
        check("acl.finalize", acl.finalize())
        print("release source stage success")


def at_least(least):
    """The type of a parameter that is a whole number from `least` on."""
    def number(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is not {least} or more")
        return int(text)
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--execute_times", type=at_least(1), default=4, help="runs in all")
    parser.add_argument("--callback_interval", type=at_least(0), default=1,
                        help="runs between two callbacks; 0: no callbacks")
    parser.add_argument("--memory_pool", type=at_least(1), default=4,
                        help="blocks of input and output memory, at least --execute_times")
    parser.add_argument("--model_path", default="./model/resnet50.om")
    parser.add_argument("--images_path", default="./data")
    args = parser.parse_args()
    if args.memory_pool < args.execute_times:
        parser.error(f"--memory_pool is {args.memory_pool}, less than --execute_times "
                     f"({args.execute_times}): each run needs a block of its own")
    print(f"Using device id:{args.device}")
    print(f"execute_times:{args.execute_times}")
    print(f"callback_interval:{args.callback_interval}")
    print(f"mem_pools:{args.memory_pool}")
    print(f"model path:{args.model_path}")
    print(f"images path:{args.images_path}")
    pictures = [read_picture(name) for name in list_pictures(args.images_path)]
    net = AsyncNet(args.device, args.model_path, args.callback_interval, args.memory_pool)
    net.fill_pool(pictures)
    net.run(args.execute_times)
    print("run finish!!!")
    net.release()


if __name__ == "__main__":
    main()
