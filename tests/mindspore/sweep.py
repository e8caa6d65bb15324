# SPDX-License-Identifier: Apache-2.0
"""Calls every function of mindspore.mint and mindspore.ops with random inputs on the CPU back end
and on Ascend, and writes docs/mindspore_score.md.

    sweep.py run OUT.json [PATTERN]       both back ends; OUT.json.cpu keeps what the CPU computed
    sweep.py page OUT.json PAGE           the page, docs/mindspore_score.md
    sweep.py worker DEVICE TASKS OUT      one back end, started by `run`

What a function takes is found by trying: `candidates` lists arguments of many kinds, and what the
CPU back end computes without an error counts, at most `WANTED` a function."""
import fnmatch
import json
import os
import pickle
import subprocess
import sys

import candidates

WANTED = 3
SECONDS = 60  # a call without an answer for this long is ended
MODULES = ("mint", "mint.nn.functional", "mint.linalg", "mint.special", "ops")


def functions():
    """Name to function; a function of several names counts under each."""
    import importlib
    import types
    found = {}
    for module in MODULES:
        held = importlib.import_module("mindspore." + module)
        public = getattr(held, "__all__", None) or dir(held)
        for name in sorted(set(public)):
            function = getattr(held, name, None)
            plain = isinstance(function, types.FunctionType | types.BuiltinFunctionType)
            if name.startswith("_") or not plain or name in candidates.LEFT_OUT:
                continue
            found[f"{module}.{name}"] = function
    return found


def to_arrays(value):
    """Tensors of an answer as arrays; None for an answer that holds none."""
    import mindspore as ms
    if isinstance(value, ms.Tensor):
        if value.dtype == ms.bfloat16:
            value = value.astype(ms.float32)
        return [value.asnumpy()]
    if isinstance(value, tuple | list):
        parts = [to_arrays(item) for item in value]
        return [array for part in parts if part for array in part]
    if isinstance(value, ms.COOTensor):
        return [value.indices.asnumpy(), value.values.asnumpy()]
    if isinstance(value, ms.CSRTensor):
        return [value.indptr.asnumpy(), value.indices.asnumpy(), value.values.asnumpy()]
    if isinstance(value, bool | int | float):
        return [__import__("numpy").asarray(value)]
    return []


def worker(device, tasks_path, out_path):
    """Each line of the tasks is [function, candidate]; answers are appended to OUT."""
    import mindspore as ms
    ms.set_device(device)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    every, counts = functions(), {}
    with open(tasks_path, encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    with open(out_path, "ab", buffering=0) as out:
        for name, place in tasks:
            if device == "CPU" and counts.get(name, 0) >= WANTED:
                continue
            out.write(pickle.dumps(("begin", name, place, None)))
            try:
                arguments, keywords = candidates.arguments(name, place)
                arrays = to_arrays(every[name](*arguments, **keywords))
                answer = ("made", name, place, arrays) if arrays else ("nothing", name, place, None)
                counts[name] = counts.get(name, 0) + bool(arrays)
            except BaseException as error:  # noqa: BLE001 the page says what it was
                if isinstance(error, KeyboardInterrupt):
                    raise
                answer = ("failed", name, place, f"{type(error).__name__}: {error}"[:2000])
            out.write(pickle.dumps(answer))


def read_answers(path):
    answers = []
    if os.path.exists(path):
        with open(path, "rb") as file:
            while True:
                try:
                    answers.append(pickle.load(file))
                except (EOFError, pickle.UnpicklingError):
                    break
    return answers


def run_worker(device, tasks, folder):
    """Answers of all tasks. A task that ends the process is noted, and the others go on."""
    path, done, answers = os.path.join(folder, device + ".pickle"), set(), {}
    counts = {}
    while True:
        left = [t for t in tasks if tuple(t) not in done
                and not (device == "CPU" and counts.get(t[0], 0) >= WANTED)]
        if not left:
            return answers
        with open(path + ".tasks", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(t) + "\n" for t in left)
        if os.path.exists(path):
            os.remove(path)
        process = subprocess.Popen([sys.executable, __file__, "worker", device, path + ".tasks",
                                    path],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        size = -1
        while process.poll() is None:
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                now = os.path.getsize(path) if os.path.exists(path) else 0
                if now == size:
                    process.kill()
                size = now
        begun = None
        for kind, name, place, value in read_answers(path):
            if kind == "begin":
                begun = (name, place)
                continue
            begun = None
            done.add((name, place))
            answers[(name, place)] = (kind, value)
            counts[name] = counts.get(name, 0) + (kind == "made")
        if begun is None and process.returncode != 0 and len(done) == 0:
            raise SystemExit(f"the worker of {device} ended with {process.returncode} before its "
                             "first call")
        if begun:
            done.add(begun)
            answers[begun] = ("ended", f"the process ended with {process.returncode}")
        elif process.returncode == 0:
            done.update(tuple(t) for t in left)


def difference(want, got, random):
    """What differs, or an empty text."""
    import numpy as np
    if len(want) != len(got):
        return f"{len(got)} tensors instead of {len(want)}"
    for a, b in zip(want, got, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
        if random:
            continue
        if a.dtype.kind in "fc":
            if not np.allclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True):
                return f"values differ by {np.nanmax(np.abs(a.astype(complex) - b)):.3g}"
        elif not np.array_equal(a, b):
            return "values differ"
    return ""


def judge(cpu, npu):
    """Function to what became of it: [calls that agree, calls, the first fault]."""
    found = {}
    for (name, place), (kind, want) in sorted(cpu.items()):
        if kind != "made":
            continue
        state = found.setdefault(name, [0, 0, ""])
        state[1] += 1
        made, got = npu.get((name, place), ("failed", "not run"))
        short = name.rpartition(".")[2]
        fault = f"{got}"
        if made == "made":
            want, got = (candidates.without_signs(short, arrays) for arrays in (want, got))
            fault = difference(want, got, short in candidates.RANDOM)
        state[0] += not fault
        state[2] = state[2] or fault
    return found


def known_answers(path, names):
    """Answers of the CPU back end that an earlier run left, if they are for these functions."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        kept, answers = pickle.load(file)
    return {k: v for k, v in answers.items() if k[0] in names} if set(names) <= set(kept) else None


def run(out, pattern="*"):
    import tempfile
    names = json.loads(subprocess.run([sys.executable, __file__, "names"], capture_output=True,
                                      text=True, check=True).stdout.splitlines()[-1])
    names = [n for n in names if fnmatch.fnmatch(n, pattern)]
    with tempfile.TemporaryDirectory() as folder:
        tasks = [[n, p] for n in names for p in range(candidates.count(n))]
        cpu = known_answers(out + ".cpu", names)
        if cpu is None:
            cpu = run_worker("CPU", tasks, folder)
            with open(out + ".cpu", "wb") as file:
                pickle.dump((names, cpu), file)
        good = [list(task) for task, (kind, _) in cpu.items() if kind == "made"]
        npu = run_worker("Ascend", good, folder)
    score = judge(cpu, npu)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"names": names, "score": score}, file, indent=1)
    passed = sum(a == b for a, b, _ in score.values())
    print(f"{passed} of {len(score)} functions agree; the CPU back end runs {len(score)} of "
          f"{len(names)}")


def page(source, target):
    with open(source, encoding="utf-8") as file:
        found = json.load(file)
    score, names = found["score"], found["names"]
    passed = sum(a == b for a, b, _ in score.values())
    lines = ["# MindSpore, function by function", "",
             "Generated by `tests/mindspore/sweep.py`: every function of `mindspore.mint` and `mindspore.ops`, called",
             "with up to three kinds of random arguments on MindSpore's CPU back end and on Ascend (AnyNPU), in PyNative",
             "mode. A function agrees if shapes and types are equal and values within 1e-4; of random numbers only",
             "shapes and types are compared.", "",
             f"**{passed} of {len(score)} functions that the CPU back end runs agree "
             f"({100 * passed / max(len(score), 1):.1f} %).** {len(names) - len(score)} more have no "
             "arguments here that the CPU back end takes.", "",
             "| function | calls that agree | the first that does not |", "|---|---|---|"]
    for name in names:
        if name not in score:
            lines.append(f"| {name} | - | not run on the CPU back end |")
            continue
        good, all_, fault = score[name]
        fault = " ".join(fault.replace("|", "/").split())[:160]
        lines.append(f"| {name} | {good} of {all_} | {fault} |")
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "names":
        print(json.dumps(list(functions())))
    else:
        {"run": run, "worker": worker, "page": page}[command](*rest)
