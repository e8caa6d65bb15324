# SPDX-License-Identifier: Apache-2.0
"""Runs entries of PyTorch's op_db on the CPU and on the device; a line of JSON for each.

Started by score.py, which starts it again after the entry that ended the process.
"""
import argparse
import json
import os
import sys
import time
import warnings

os.environ.setdefault("ASCEND_LAUNCH_BLOCKING", "1")  # else one failure spoils what follows

import compare
import judge
import torch
import torch.testing._internal.common_methods_invocations as invocations

op_db = invocations.op_db
# Random entries seed the generator before every call; here each draw is a new one.
invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)

warnings.filterwarnings("ignore")
DTYPES = {"float32": torch.float32, "int64": torch.int64, "bfloat16": torch.bfloat16,
          "float16": torch.float16}


def name_of(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def entries(dtype, gradient):
    """The entries of op_db for a type, in its order."""
    found = []
    for op in op_db:
        types = op.supported_backward_dtypes("cpu") if gradient else op.supported_dtypes("cpu")
        if dtype in types and (not gradient or op.supports_autograd):
            found.append(op)
    return found


class Moved:
    """Tensors of a sample on the device; the same tensor stays the same."""

    def __init__(self, device):
        self.device = device
        self.pairs = []

    def __call__(self, value):
        if not isinstance(value, torch.Tensor):
            return value
        for source, target in self.pairs:
            if source is value:
                return target
        target = value.detach().to(self.device)
        if value.requires_grad:
            target.requires_grad_()
        self.pairs.append((value, target))
        return target


def on_device(value, device):
    if isinstance(value, torch.device) or value == "cpu":
        return device
    if isinstance(value, torch.Generator):
        return None
    return value


def fresh(value):
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def copied(sample, device):
    new = sample.transform(fresh if device == "cpu" else Moved(device))
    if device != "cpu":
        new.kwargs = {key: on_device(value, device) if key == "device" else value
                      for key, value in new.kwargs.items()}
    return new


def leaves_of(sample):
    return [t for t in compare.tensors_of([sample.input, *sample.args, sample.kwargs])
            if t.requires_grad and t.is_leaf]


def finish(device):
    if device != "cpu":
        getattr(torch, device).synchronize()


def call(op, sample):
    return op(sample.input, *sample.args, **sample.kwargs)


def gradients(op, sample, direction):
    """Results and gradients of the leaves; `direction` makes what is passed backwards."""
    leaves = leaves_of(sample)
    result = call(op, sample)
    process = sample.output_process_fn_grad or (lambda value: value)
    outputs = [t for t in compare.tensors_of(process(result))
               if t.requires_grad and (t.is_floating_point() or t.is_complex())]
    if not outputs or not leaves:
        return None
    grads = torch.autograd.grad(outputs, leaves, [direction(t) for t in outputs],
                                allow_unused=True)
    return [torch.zeros(()) if g is None else g for g in grads]


def directions(kept=None):
    """The same values for the CPU and the device, in the order of the outputs."""
    kept = [] if kept is None else kept

    def first(tensor):
        generator = torch.Generator().manual_seed(len(kept))
        kept.append(torch.randn(tensor.shape, generator=generator,
                                dtype=torch.float32).to(tensor.dtype))
        return kept[-1]
    first.kept = kept
    numbers = iter(range(1 << 20))
    return first, lambda tensor: kept[next(numbers)].to(device=tensor.device, dtype=tensor.dtype)


def is_random(op, sample):
    argument = compare.RANDOM_BY_ARGUMENT.get(op.name)
    if argument:
        place = compare.PLACES.get(op.name, 1 << 20)
        given = sample.args[place] if place < len(sample.args) else 0
        return bool(sample.kwargs.get(argument, given))
    return op.name in compare.RANDOM or name_of(op) in compare.RANDOM


def run_sample(op, sample, gradient, device):
    """False when the CPU itself cannot do it."""
    if gradient:
        first, again = directions()
        torch.manual_seed(0)
        try:
            expected = gradients(op, copied(sample, "cpu"), first)
        except Exception:
            return False
        if expected is None:
            return False
        torch.manual_seed(0)
        actual = gradients(op, copied(sample, device), again)
        if is_random(op, sample) or op.name in judge.DRAWN:
            compare.assert_same_form(actual, expected)
        else:
            def in_wider_type():
                _, same = directions(first.kept)
                return gradients(op, judge.widened(sample), same)
            judge.assert_right("", sample, actual, expected, in_wider_type)
        return True

    torch.manual_seed(0)
    try:
        expected = call(op, copied(sample, "cpu"))
    except Exception:
        return False
    if op.name in compare.UNWRITTEN:
        compare.assert_same_form(call(op, copied(sample, device)), expected)
    elif is_random(op, sample):
        actual, expected = ([compare.to_cpu(call(op, copied(sample, place)))
                             for _ in range(compare.draws_of(op.name))]
                            for place in (device, "cpu"))
        compare.assert_same_distribution(op.name, actual, expected)
    else:
        actual = call(op, copied(sample, device))
        finish(device)  # results that were asked for with non_blocking
        judge.assert_right(name_of(op), sample, actual, expected,
                           lambda: call(op, copied(judge.widened(sample), "cpu")))
    return True


def run_entry(op, dtype, gradient, device, most):
    torch.manual_seed(1)
    passed = failed = skipped = 0
    reason = ""
    samples = op.sample_inputs("cpu", dtype, requires_grad=gradient)
    for number, sample in enumerate(samples):
        if most and number >= most:
            break
        try:
            if run_sample(op, sample, gradient, device):
                passed += 1
            else:
                skipped += 1
        except Exception as error:
            failed += 1
            if not reason:
                text = f"sample {number}: {type(error).__name__}: {error}"
                reason = " ".join(text.split())[:600]
    return {"passed": passed, "failed": failed, "skipped": skipped, "reason": reason}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="float32", choices=DTYPES)
    parser.add_argument("--gradient", action="store_true")
    parser.add_argument("--device", default="npu")
    parser.add_argument("--samples", type=int, default=0, help="at most that many of an entry")
    parser.add_argument("--only", default="", help="names, with commas")
    parser.add_argument("--from", dest="start", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    dtype = DTYPES[args.dtype]
    todo = entries(dtype, args.gradient)
    if args.list:
        print(json.dumps([name_of(op) for op in todo]))
        return
    torch.set_num_threads(int(os.environ.get("ANYNPU_SCORE_THREADS", "1")))
    only = {name for name in args.only.split(",") if name}
    out = os.fdopen(os.dup(1), "w")  # operators may print
    os.dup2(2, 1)
    for number, op in enumerate(todo):
        if number < args.start or only and name_of(op) not in only and op.name not in only:
            continue
        print(json.dumps({"start": number, "name": name_of(op)}), file=out, flush=True)
        begin = time.monotonic()
        try:
            result = run_entry(op, dtype, args.gradient, args.device, args.samples)
        except Exception as error:
            result = {"passed": 0, "failed": 1, "skipped": 0,
                      "reason": f"samples: {type(error).__name__}: {error}"[:300]}
        result.update(number=number, name=name_of(op), seconds=round(time.monotonic() - begin, 2))
        print(json.dumps(result), file=out, flush=True)
    out.flush()
    sys.stderr.flush()
    os._exit(0)  # not the business of this test how torch_npu ends


if __name__ == "__main__":
    main()
