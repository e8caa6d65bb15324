# SPDX-License-Identifier: Apache-2.0
"""--profiler, --dump and --acl_json_path: a profile by msprof, or what acl.json switches on."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

from aclruntime.output_files import make_folder, whole_file
from ais_bench.infer.logger import logger
from ais_bench.infer.shape_range import child_options
from anynpu.whole_file import temporary_folder

_NO_MSPROF = ("MSIT_NO_MSPROF_MODE", "AIT_NO_MSPROF_MODE", "GE_PROFILIGN_TO_STD_OUT")
_SWITCHES = ("--model-execution=on", "--sys-hardware-mem=on", "--sys-cpu-profiling=off",
             "--sys-profiling=off", "--sys-pid-profiling=off", "--dvpp-profiling=on",
             "--runtime-api=on", "--task-time=on", "--aicpu=on")
_JSON_KEYS = ("output", "storage_limit", "ascendcl", "runtime_api", "hccl", "task_time", "aicpu",
              "aic_metrics", "l2", "sys_hardware_mem_freq", "lcc_profiling", "dvpp_freq",
              "host_sys", "host_sys_usage", "host_sys_usage_freq", "sys_interconnection_freq",
              "msproftx")
_ALSO_ON = {"sys_hardware_mem_freq": "--sys-hardware-mem=on",
            "sys_interconnection_freq": "--sys-interconnection-profiling=on",
            "dvpp_freq": "--dvpp-profiling=on"}
_FOLDER = re.compile(r"PROF_\d+_\d+_[A-Za-z0-9]+")


def toolkit():
    return os.environ.get("ASCEND_TOOLKIT_HOME", "/usr/local/Ascend/ascend-toolkit/latest")


def model_name(args):
    return os.path.splitext(os.path.basename(args.model))[0]


# -- acl.json of the user --------------------------------------------------------------------------

def _read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (ValueError, RecursionError) as error:
        raise RuntimeError(f"'{path}' is no JSON: {error}") from error
    return _of_type(content, dict, f"'{path}'")


def _of_type(value, kind, what):
    if not isinstance(value, kind):
        wanted = {dict: "an object {...}", list: "a list [...]"}[kind]
        raise ValueError(f"{what} holds {json.dumps(value)[:80]}, {wanted} is needed")
    return value


def _check_dump(args, dump):
    section = f"the dump section of '{args.acl_json_path}'"
    _of_type(dump, dict, section)
    for key in ("dump_list", "dump_path"):
        if key not in dump:
            raise KeyError(f"{section} has no '{key}'")
    models = _of_type(dump["dump_list"], list, f"'dump_list' in {section}")
    named = _of_type(models[0], dict, f"'dump_list' in {section}").get("model_name") \
        if models else None
    if named != model_name(args):
        raise ValueError(f"{section} names the model '{named}', the model file is "
                         f"'{model_name(args)}'")
    for key, allowed in (("dump_op_switch", ("on", "off")),
                         ("dump_mode", ("input", "output", "all"))):
        if key in dump and dump[key] not in allowed:
            raise ValueError(f"'{key}' in '{args.acl_json_path}' is '{dump[key]}', it must be one "
                             f"of {', '.join(allowed)}")


def check_acl_json(args):
    """What the file of --acl_json_path switches on wins over the options."""
    if args.acl_json_path is None:
        return
    content = _read_json(args.acl_json_path)
    profiler = content.get("profiler", {})
    if "dump" in content:
        _check_dump(args, content["dump"])
        args.profiler = False
    elif isinstance(profiler, dict) and profiler.get("switch") == "on":
        args.profiler = True


def _write_json(args, content):
    make_folder(args.output)
    path = os.path.join(args.output, "acl.json")
    with whole_file(path) as file:
        file.write(json.dumps(content, indent=1).encode())
    return path


def prepare(args):
    """Writes the acl.json of --profiler (without msprof) or --dump and makes the run use it."""
    if args.acl_json_path is not None:
        return
    if args.profiler:
        folder = make_folder(os.path.join(args.output, "profiler"))
        section = {"switch": "on", "aicpu": "on", "output": os.path.abspath(folder),
                   "aic_metrics": ""}
        args.acl_json_path = _write_json(args, {"profiler": section})
    elif args.dump:
        folder = make_folder(os.path.join(args.output, "dump"))
        section = {"dump_path": os.path.abspath(folder), "dump_mode": "all",
                   "dump_list": [{"model_name": model_name(args)}]}
        args.acl_json_path = _write_json(args, {"dump": section})


# -- msprof ----------------------------------------------------------------------------------------

def _find_msprof():
    for name in _NO_MSPROF:
        if os.environ.get(name) == "1":
            logger.info("find %s set, continue use acl.json mode", name)
            return None
    path = os.path.join(toolkit(), "bin", "msprof")
    found = path if os.access(path, os.X_OK) else shutil.which("msprof")
    if found is None:
        logger.info("find no msprof continue use acl.json mode, result won't be parsed as csv")
    return found


def _switches(args, folder):
    if args.acl_json_path is None:
        return [f"--output={folder}", *_SWITCHES]
    section = _read_json(args.acl_json_path).get("profiler", {})
    words = []
    for key in _JSON_KEYS:
        if key in section and section[key] != "":
            words.append(f"--{key.replace('_', '-')}={section[key]}")
            if key in _ALSO_ON:
                words.append(_ALSO_ON[key])
    return words


def _rename(folder, found, args):
    """<name>.csv becomes <name>_<model>_<last part of the folder's name>.csv."""
    suffix = f"_{model_name(args)}_{found.rsplit('_', 1)[-1]}"
    for where, _, names in os.walk(os.path.join(folder, found)):
        for name in names:
            stem, dot = os.path.splitext(name)
            if dot in (".csv", ".json"):
                os.rename(os.path.join(where, name), os.path.join(where, stem + suffix + dot))


def run_under_msprof(args):
    """Runs this command again as msprof's application; None when there is no msprof."""
    msprof = _find_msprof()
    if msprof is None:
        return None
    folder = "profiler"
    if args.output:
        make_folder(args.output)
        folder = make_folder(os.path.join(args.output, "profiler"))
    inner = [sys.executable, "-m", "ais_bench",
             *child_options(args, profiler=False, warmup_count=0, acl_json_path=None)]
    command = [msprof, *_switches(args, folder), f"--application={' '.join(inner)}"]
    logger.info("msprof cmd:%s begin run", " ".join(command))
    if args.acl_json_path is not None or not args.profiler_rename:
        return subprocess.run(command, check=False).returncode
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = None
    for line in process.stdout:
        sys.stdout.write(line)
        match = _FOLDER.search(line)
        found = found or (match and match.group(0))
    code = process.wait()
    if code == 0 and found:
        _rename(folder, found, args)
    return code


# -- dumped data as .npy ---------------------------------------------------------------------------

def _convert(folder):
    tool = os.path.join(toolkit(), "tools", "operator_cmp", "compare", "msaccucmp.py")
    for name in sorted(os.listdir(folder)):
        if name.endswith("_npy"):
            continue
        command = [sys.executable, tool] if os.path.exists(tool) else \
            [shutil.which("msaccucmp") or ""]
        if not command[-1]:
            logger.error("msaccucmp.py was not found in %s; dumped data stays as it is", toolkit())
            return
        top = os.path.join(folder, name)
        for where, _, files in os.walk(top):
            out = os.path.normpath(os.path.join(f"{top}_npy", os.path.relpath(where, top)))
            if files:
                os.makedirs(out, exist_ok=True)
                subprocess.run([*command, "convert", "-d", where, "-out", out], check=False)


@contextlib.contextmanager
def checked_dump(args):
    """After the run: says when nothing was dumped, and converts the dump for --dump_npy."""
    content = _read_json(args.acl_json_path) if args.acl_json_path else {}
    if "dump" not in content:
        if args.dump_npy:
            logger.warning("--dump_npy converts a dump, and nothing is dumped; add --dump")
        yield
        return
    folder = content["dump"]["dump_path"]
    with _converted_dump(args, content) if args.dump_npy else contextlib.nullcontext():
        yield
    if not any(files for _, _, files in os.walk(folder)):
        logger.warning("nothing was dumped to %s: no model with the name of dump_list ran; a model "
                       "has the name that atc --output gave it, also when its file is renamed",
                       folder)


@contextlib.contextmanager
def _converted_dump(args, content):
    """The run dumps into a temporary folder, which is then moved and converted."""
    real = content["dump"]["dump_path"]
    make_folder(real)
    with temporary_folder(real, "dump") as temporary:
        content["dump"]["dump_path"] = temporary
        path = os.path.join(temporary, "acl.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)
        args.acl_json_path = path
        yield
        os.unlink(path)
        for name in os.listdir(temporary):
            shutil.move(os.path.join(temporary, name), os.path.join(real, name))
    _convert(real)
