# SPDX-License-Identifier: Apache-2.0
"""--perf: another engine's own benchmark of the model."""
import re
import shutil
import subprocess

from ais_bench.infer.logger import logger


def _command(args):
    command = [shutil.which("trtexec") or "", f"--onnx={args.model}", "--fp16"]
    if args.device:
        command.append(f"--device={args.device}")
    if args.loop > 1:
        command.append(f"--iterations={args.loop}")
    if args.batchsize:
        command.append(f"--batch={args.batchsize}")
    return command


def run(args):
    if args.backend != "trtexec":
        raise RuntimeError("--perf runs another engine; name it with --backend trtexec")
    command = _command(args)
    if not command[0]:
        raise RuntimeError("--perf needs the program trtexec, which is not on the PATH; install "
                           "TensorRT, or run without --perf")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        logger.info("%s", line)
    if done.returncode:
        raise RuntimeError(f"trtexec ended with status {done.returncode}: {done.stderr.strip()}")
    found = dict(re.findall(r"(Throughput|Latency|GPU Compute Time): (.*)", done.stdout))
    logger.info("perf info:%s", found)
    return 0
