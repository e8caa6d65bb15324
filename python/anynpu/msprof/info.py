# SPDX-License-Identifier: Apache-2.0
"""What profilers of frameworks ask about the host of a profile: get_msprof_info.py -dir
PROF/host."""
import argparse
import json
import os
import sys

DRIVER_VERSION = 467732  # of the release that version.info names; older ones are asked differently


def info(folder):
    """The answer, as a dict; its status is 0, or 1 with the reason."""
    path = next((os.path.join(folder, name) for name in sorted(os.listdir(folder))
                 if name.startswith("info.json") and not name.endswith(".done")), None)
    if path is None:
        return {"status": 1, "info": f"{folder} has no info.json; name the host folder of a PROF_* "
                                     "folder", "data": {}}
    with open(path, encoding="utf-8") as file:
        host = json.load(file)
    cpus = [{"CPU_ID": cpu["Id"], "Name": cpu["Name"], "Type": cpu["Type"],
             "Frequency": cpu["Frequency"], "Logical_CPU_Count": cpu["Logical_CPU_Count"]}
            for cpu in host["CPU"]]
    return {"status": 0, "info": "",
            "data": {"collection_info": {"Collection size": "", "Process Id": host["pid"]},
                     "device_info": host["DeviceInfo"],
                     "host_info": {"cpu_info": cpus, "cpu_num": len(cpus),
                                   "host_operating_system": host["OS"],
                                   "host_computer_name": host["hostname"]},
                     "version_info": {"drv_version": DRIVER_VERSION}}}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="get_msprof_info.py", description=__doc__)
    parser.add_argument("-dir", "--collection-dir", required=True,
                        help="the host folder of a PROF_* folder")
    folder = parser.parse_args(arguments).collection_dir
    try:
        answer = info(folder)
    except (OSError, ValueError, KeyError) as error:
        answer = {"status": 1, "info": f"{folder}: {error!r}", "data": {}}
    print(json.dumps(answer))
    return answer["status"]


if __name__ == "__main__":
    sys.exit(main())
