# SPDX-License-Identifier: Apache-2.0
"""--energy_consumption: power by npu-smi before and after, times the seconds between."""
import contextlib
import subprocess
import time

from ais_bench.infer.logger import logger

_LINE, _COLUMN = "Power Dissipation(W)", 34


def power(npu_id):
    """Watts by npu-smi. A CPU device has no meter: RuntimeError."""
    command = ["npu-smi", "info", "-t", "power", "-i", str(npu_id)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except OSError as error:
        raise RuntimeError(f"energy consumption is unavailable: {command[0]} cannot be run "
                           f"({error.strerror})") from None
    for line in done.stdout.splitlines():
        if _LINE in line:
            text = line[_COLUMN:].strip(" :")
            try:
                return float(text)
            except ValueError:
                raise RuntimeError(f"energy consumption is unavailable: device {npu_id} reports no "
                                   f"power ('{text}'); run without --energy_consumption") from None
    raise RuntimeError(f"energy consumption is unavailable: '{' '.join(command)}' says nothing "
                       f"about power: {done.stdout.strip() or done.stderr.strip()}")


@contextlib.contextmanager
def measured(args):
    if not args.energy_consumption:
        yield
        return
    ids = args.npu_id if isinstance(args.npu_id, list) else [args.npu_id]
    before = [power(npu_id) for npu_id in ids]
    begin = time.monotonic()
    yield
    seconds = time.monotonic() - begin
    for npu_id, first in zip(ids, before):
        logger.info("NPU ID:%s energy consumption(J):%s", npu_id,
                    (first + power(npu_id)) / 2 * seconds)
