# SPDX-License-Identifier: Apache-2.0
"""A program that profiles a part of itself: runs of a model after a warm-up, with a stamp of its
own around each. Prints which types of operators took the time.

    python profile_model.py model.om [runs]
    anynpu report PROF_* -o report.html
"""
import csv
import glob
import os
import subprocess
import sys

import acl

AICORE_METRICS, DATA = 1, 0x1 | 0x2 | 0x4 | 0x20 | 0x80  # calls, tasks, operators, stamps


def check(ret, what):
    if ret != 0:
        raise SystemExit(f"{what} failed with {ret}: {acl.get_recent_err_msg()}")


def checked(result, what):
    check(result[-1], what)
    return result[0]


def datasets(desc):
    """Zeros in, memory out."""
    made = []
    for count, size in ((acl.mdl.get_num_inputs(desc), acl.mdl.get_input_size_by_index),
                        (acl.mdl.get_num_outputs(desc), acl.mdl.get_output_size_by_index)):
        made.append(acl.mdl.create_dataset())
        for i in range(count):
            address = checked(acl.rt.malloc(size(desc, i), 0), "malloc")
            check(acl.rt.memset(address, size(desc, i), 0, size(desc, i)), "memset")
            checked(acl.mdl.add_dataset_buffer(
                made[-1], acl.create_data_buffer(address, size(desc, i))), "add_dataset_buffer")
    return made


def release(dataset):
    for i in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, i)
        check(acl.rt.free(acl.get_data_buffer_addr(buffer)), "free")
        check(acl.destroy_data_buffer(buffer), "destroy_data_buffer")
    check(acl.mdl.destroy_dataset(dataset), "destroy_dataset")


def profiled(runs, run):
    check(acl.prof.init(os.getcwd()), "prof.init")
    config = acl.prof.create_config([0], AICORE_METRICS, 0, DATA)
    check(acl.prof.start(config), "prof.start")
    for number in range(runs):
        stamp = acl.prof.create_stamp()
        check(acl.prof.set_stamp_trace_message(stamp, f"run {number}", len(f"run {number}")),
              "set_stamp_trace_message")
        check(acl.prof.push(stamp), "push")
        run()
        check(acl.prof.pop(), "pop")
        acl.prof.destroy_stamp(stamp)
    check(acl.prof.stop(config), "prof.stop")
    check(acl.prof.destroy_config(config), "destroy_config")
    check(acl.prof.finalize(), "prof.finalize")


def print_operators():
    folder = max(glob.glob("PROF_*"), key=os.path.getmtime)
    subprocess.run(["msprof", "--export=on", f"--output={folder}"], check=True,
                   stdout=subprocess.DEVNULL)
    (table,) = glob.glob(f"{folder}/mindstudio_profiler_output/op_statistic_*.csv")
    with open(table, newline="") as file:
        for row in list(csv.DictReader(file))[:5]:
            print(f"{row['OP Type']:20} {row['Count']:>5} times {float(row['Ratio(%)']):6.1f} %")


def main():
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    check(acl.init(), "init")
    check(acl.rt.set_device(0), "set_device")
    model = checked(acl.mdl.load_from_file(sys.argv[1]), "load_from_file")
    desc = acl.mdl.create_desc()
    check(acl.mdl.get_desc(desc, model), "get_desc")
    inputs, outputs = datasets(desc)

    def run():
        check(acl.mdl.execute(model, inputs, outputs), "execute")

    run()  # the first one is slower
    profiled(runs, run)
    print_operators()
    for dataset in (inputs, outputs):
        release(dataset)
    check(acl.mdl.destroy_desc(desc), "destroy_desc")
    check(acl.mdl.unload(model), "unload")
    check(acl.rt.reset_device(0), "reset_device")
    check(acl.finalize(), "finalize")


if __name__ == "__main__":
    main()
