# SPDX-License-Identifier: Apache-2.0
"""`stc-smi`: lists the NPC clusters that HPE programs see; -q shows every attribute."""
import argparse
import sys

from . import __version__

ATTRIBUTES = [
    "Chip HW Version", "Board HW Version", "Clusters Per Chip", "NPCs Per Cluster",
    "Shared Memory (KiB)", "Global Memory (MiB)", "Concurrent Kernels", "PCI Bus (simulated)",
    "PCI Device (simulated)", "Firmware Version", "Driver Version",
]


def parser():
    made = argparse.ArgumentParser(prog="stc-smi", description=__doc__)
    made.add_argument("--version", action="version", version=f"%(prog)s of AnyNPU {__version__}")
    made.add_argument("-q", "--query", action="store_true", help="show every attribute")
    return made


def main(words=None):
    options = parser().parse_args(words)
    from hpe import _hpe
    count = _hpe.device_count()
    if count == 0:
        print("no NPC cluster: STC_SET_DEVICES hides all of them", file=sys.stderr)
        return 1
    if not options.query:
        print(f"{'ID':>3}  {'NAME':<8}  {'PCI (simulated)':<15}  {'NPC':>3}  {'MEMORY':>8}")
    for device in range(count):
        values = [_hpe.device_attribute(index, device) for index in range(len(ATTRIBUTES))]
        if options.query:
            print(f"NPC Cluster {device}\n    {'Name':<24}: {_hpe.device_name(device)}")
            for title, value in zip(ATTRIBUTES, values):
                print(f"    {title:<24}: {value}")
        else:
            pci = f"{values[7]:02x}:{values[8]:x}"
            print(f"{device:>3}  {_hpe.device_name(device):<8}  {pci:<15}  {values[3]:>3}  "
                  f"{values[5]:>4} MiB")
    return 0
