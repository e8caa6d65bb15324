# SPDX-License-Identifier: Apache-2.0
"""`anynpu doctor`: what was found on this machine, what is used, and why the rest is not.

The exit code is 0 when a program can run: the module acl imports, a device opens, and bytes copied
to it and back are the same. Each module that programs import is imported once, in a process of its
own, with the environment that `anynpu run` and set_env.sh give.
"""
import ctypes
import json
import os
import platform
import subprocess
import sys

from . import __version__, ascend_tree, paths
from .remedies import remedies
from .runtime_facts import CPU_PRODUCT, RuntimeUnavailable, load_acl, read

FEATURES = ("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16",
            "amx_tile", "amx_bf16", "amx_int8", "asimd", "sve")
GIB = 1 << 30


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def cpu():
    fields = {}
    for line in read_text("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    name = fields.get("model name") or platform.processor() or platform.machine()
    return name, [feature for feature in FEATURES if feature in flags]


def cores():
    """Cores that this process may use, and those of the machine."""
    return len(os.sched_getaffinity(0)), os.cpu_count() or 1


def memory():
    fields = dict(line.split(":", 1) for line in read_text("/proc/meminfo").splitlines())
    sizes = [int(fields.get(key, "0 kB").split()[0]) * 1024 for key in ("MemTotal", "MemAvailable")]
    return sizes[0], sizes[1]


def library_version(path):
    """The version that libanynpu.so itself states; raises OSError when it cannot be opened."""
    library = ctypes.CDLL(path)
    function = getattr(library, "_ZN6anynpu7versionEv", None)  # const char* anynpu::version()
    if function is None:
        return "unknown"
    function.restype = ctypes.c_char_p
    return function().decode()


def amx():
    """Why bfloat16 kernels do not use AMX tiles; empty when they do."""
    function = ctypes.CDLL(paths.library())["_ZN6anynpu3ops3amx7refusalEv"]
    function.restype = ctypes.c_char_p  # const char* anynpu::ops::amx::refusal()
    return function().decode()


def loaded(name):
    """The file of a library that this process has mapped, or None."""
    for line in read_text("/proc/self/maps").splitlines():
        path = line.split()[-1]
        if name in os.path.basename(path):
            return path
    return None


def copy_there_and_back(acl):
    """A short run through the runtime; raises RuntimeUnavailable with the step that failed."""
    def need(ret, step):
        if ret != 0:
            raise RuntimeUnavailable(f"{step} returned {ret}. {acl.get_recent_err_msg() or ''}")

    sent = bytes(range(256)) * 4
    need(acl.init(), "acl.init")
    try:
        need(acl.rt.set_device(0), "acl.rt.set_device(0)")
        device, ret = acl.rt.malloc(len(sent), 0)
        need(ret, "acl.rt.malloc")
        back = bytes(bytearray(len(sent)))
        need(acl.rt.memcpy(device, len(sent), acl.util.bytes_to_ptr(sent), len(sent), 1),
             "acl.rt.memcpy to the device")
        need(acl.rt.memcpy(acl.util.bytes_to_ptr(back), len(back), device, len(sent), 2),
             "acl.rt.memcpy from the device")
        need(acl.rt.free(device), "acl.rt.free")
        acl.rt.reset_device(0)
        if back != sent:
            raise RuntimeUnavailable("bytes copied to the device and back are not the same")
    finally:
        acl.finalize()


FRONT_DOORS = ("acl", "aclruntime", "ais_bench.infer.interface", "hpe", "mindspore.profiler")


def front_doors():
    """(module, None or why it cannot be imported) of what programs import."""
    from .cli import environment
    env = environment(os.environ)
    for name in FRONT_DOORS:
        done = subprocess.run([sys.executable, "-c", f"import {name}"], env=env, text=True,
                              capture_output=True, check=False)
        said = done.stderr.strip().splitlines()
        yield name, None if done.returncode == 0 else said[-1] if said else "it ended the process"


PLUGINS = {"cuda": "NVIDIA GPU", "ucx": "HCCL between machines", "image": "JPEG and PNG",
           "video": "H.264 and H.265"}


def missing(name):
    """Why a plug-in is not used; None when it is."""
    plugin = os.path.join(paths.library_folder(), f"libanynpu_{name}.so")
    if not os.path.exists(plugin):
        return f"this build has no plug-in for it (libanynpu_{name}.so)"
    try:
        ctypes.CDLL(plugin)
    except OSError as error:
        return f"the plug-in does not open: {error}"
    if name == "cuda":
        return cuda_report().get("problem")
    return None


def cuda_report():
    """What the plug-in found of NVIDIA's driver, GPUs and libraries (src/cuda/report.cpp)."""
    try:
        plugin = ctypes.CDLL(os.path.join(paths.library_folder(), "libanynpu_cuda.so"))
    except OSError:
        return {}
    text = ctypes.create_string_buffer(1 << 16)
    plugin.anynpu_cuda_report(text, ctypes.c_size_t(len(text)))
    return json.loads(text.value.decode())


def gpus():
    """Rows about GPUs and the libraries that their kernels need; none where there is no GPU."""
    report = cuda_report()
    rows = [(f"cuda:{gpu['unit']}", f"{gpu['name']}, {gpu['memory'] / GIB:.0f} GiB"
             if "name" in gpu else gpu["problem"]) for gpu in report.get("gpus", ())]
    if not rows:
        return []
    rows.append(("driver", f"CUDA {report['cuda']}"))
    for library in report["libraries"]:
        name = library["file"].split(".")[0][3:]
        rows.append((name, library.get("path") or
                     f"missing, needed for {library['use']}: {library['missing']}"))
    return rows


def npc():
    """Why NPC kernels are interpreted; None when they are translated to host code."""
    if os.environ.get("ANYNPU_NPC_INTERPRET") == "1":
        return "ANYNPU_NPC_INTERPRET is set"
    if platform.machine() != "x86_64":
        return f"the translator needs an x86-64 processor, this is {platform.machine()}"
    return missing("npc")


def show(title, rows):
    print(title)
    for name, value in rows:
        print(f"  {name:<12} {value}")


def found():
    name, features = cpu()
    usable, total = cores()
    size, free = memory()
    rows = [("CPU", f"{name}, {usable} of {total} cores"),
            ("features", " ".join(features) or "none of those that kernels ask for"),
            ("memory", f"{size / GIB:.1f} GiB, {free / GIB:.1f} GiB free"),
            ("Python", f"{platform.python_version()}, {sys.executable}")]
    try:
        rows.append(("libanynpu", f"{library_version(paths.library())}, {paths.library()}"))
    except OSError as error:
        rows.append(("libanynpu", f"does not open: {error}"))
    return rows


def used():
    """Rows about what programs will get, and the problem that stops them (or None)."""
    try:
        acl = load_acl()
        facts = read(acl)
        copy_there_and_back(acl)
    except RuntimeUnavailable as error:
        return [("nothing", str(error))], str(error)
    rows = [("acl", getattr(acl, "__file__", "built in")), ("chip name", facts.soc_name)]
    if facts.devices:
        size = facts.devices[0].total_bytes / GIB
        product = facts.devices[0].product
        kind = "CPU" if product == CPU_PRODUCT else product
        rows.append(("devices", f"{len(facts.devices)} x {kind} with {size:g} GiB each "
                                "(ANYNPU_DEVICES, ANYNPU_DEVICE_MEMORY)"))
    threads = os.environ.get("ANYNPU_THREADS") or f"{cores()[0]}, all cores of the process"
    reason, tiles = npc(), amx()
    rows += [("threads", f"{threads} (ANYNPU_THREADS)"),
             ("NPC kernels", f"interpreted: {reason}" if reason else "translated to host code"),
             ("AMX", f"not used: {tiles}" if tiles else "used for bfloat16"),
             ("oneDNN", loaded("libdnnl") or "not used; kernels are AnyNPU's own"),
             ("self test", "1 KiB copied to device 0 and back")]
    return rows, None


def main():
    print(f"AnyNPU {__version__}\n")
    show("found", found())
    rows, problem = used()
    doors = dict(front_doors())
    rows.append(("modules", " ".join(name for name, why in doors.items() if why is None)))
    show("\nused", rows)
    reasons = [(name, why) for name, why in doors.items() if why]
    reasons += [(title, missing(name)) for name, title in PLUGINS.items() if missing(name)]
    if reasons:
        show("\nnot used", reasons)
    if gpus():
        show("\nGPUs", gpus())
    rows = remedies(reasons, missing("cuda") is None)
    if rows:
        show("\nto get it", rows)
    show("\npaths", [
        ("logs", paths.log_folder() or "nowhere (ASCEND_PROCESS_LOG_PATH, ASCEND_WORK_PATH)"),
        ("cache", paths.cache_folder()),
        ("set_env.sh", os.path.join(ascend_tree.location(), "set_env.sh"))])
    print("\nprograms cannot run: " + problem if problem else "\nready: anynpu run app.py")
    return 1 if problem else 0
