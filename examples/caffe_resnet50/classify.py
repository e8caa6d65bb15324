# SPDX-License-Identifier: Apache-2.0
"""Classifies every picture of a folder with a Caffe ResNet-50, one after the other."""
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


class Net:
    def __init__(self, device_id, model_path):
        print("init resource stage:")
        self.device_id = device_id
        check("acl.init", acl.init())
        check("acl.rt.set_device", acl.rt.set_device(device_id))
        self.context = checked("acl.rt.create_context", acl.rt.create_context(device_id))
        self.model_id = checked("acl.mdl.load_from_file", acl.mdl.load_from_file(model_path))
        print(f"model_id:{self.model_id}")
        self.desc = acl.mdl.create_desc()
        check("acl.mdl.get_desc", acl.mdl.get_desc(self.desc, self.model_id))
        self.inputs = make_dataset(
            acl.mdl.get_input_size_by_index(self.desc, i)
            for i in range(acl.mdl.get_num_inputs(self.desc)))
        self.outputs = make_dataset(
            acl.mdl.get_output_size_by_index(self.desc, i)
            for i in range(acl.mdl.get_num_outputs(self.desc)))
        print("init resource success")

    def run(self, picture):
        print("data interaction from host to device")
        fill(self.inputs, picture)
        print("data interaction from host to device success")
        print("execute stage:")
        check("acl.mdl.execute", acl.mdl.execute(self.model_id, self.inputs, self.outputs))
        print("execute stage success")
        print("data interaction from device to host")
        values = read(self.outputs)
        print("data interaction from device to host success")
        return values

    def release(self):
        print("Releasing resources stage:")
        destroy_dataset(self.inputs)
        destroy_dataset(self.outputs)
        check("acl.mdl.destroy_desc", acl.mdl.destroy_desc(self.desc))
        check("acl.mdl.unload", acl.mdl.unload(self.model_id))
        check("acl.rt.destroy_context", acl.rt.destroy_context(self.context))
        check("acl.rt.reset_device", acl.rt.reset_device(self.device_id))
        check("acl.finalize", acl.finalize())
        print("Resources released successfully.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--model_path", default="./model/resnet50.om")
    parser.add_argument("--images_path", default="./data")
    args = parser.parse_args()
    print(f"Using device id:{args.device}")
    print(f"model path:{args.model_path}")
    print(f"images path:{args.images_path}")
    names = list_pictures(args.images_path)
    net = Net(args.device, args.model_path)
    for name in names:
        print(f"images:{name}")
        print_best(net.run(read_picture(name)))
    print("****run finish****")
    net.release()


if __name__ == "__main__":
    main()
