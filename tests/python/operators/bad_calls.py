# SPDX-License-Identifier: Apache-2.0
"""Calls of acl.op that do not fit, made out of calls that do: what each operator of the table must
refuse, or take with a result that is known (test_op_bad_calls.py)."""
import copy

import numpy as np
from single_op import ND, TYPES, make_attr

import acl

PATTERN = 0xA5  # what the memory of outputs holds before a call
STRING, COMPLEX64, FRACTAL_Z, FRACTAL_NZ = 13, 16, 4, 29
F, F64 = np.float32, np.float64


class Part:
    """A tensor of a call: data, and what its description and its buffer say about it."""

    def __init__(self, array, form=ND, const=False):
        self.array = None if array is None else np.array(array, order="C")
        self.form, self.const, self.null = (-1 if array is None else form), const, False
        self.shape = [] if array is None else list(self.array.shape)
        self.dtype = -1 if array is None else TYPES[self.array.dtype.name]
        self.size = 0 if array is None else self.array.nbytes

    def set(self, array):
        """Other data, described as it is; the values are no longer known before the run."""
        self.__init__(array, self.form)

    def make(self, is_output):
        self.desc = acl.create_tensor_desc(self.dtype, self.shape, self.form)
        assert self.desc
        self.room = 0 if self.array is None else max(self.size, self.array.nbytes) + 8
        self.address = 0
        if self.room:
            self.address, ret = acl.rt.malloc(self.room, 2)
            assert ret == 0
            data = np.full(self.room, PATTERN, np.uint8)
            if not is_output:
                data[:self.array.nbytes] = np.frombuffer(self.array.tobytes(), np.uint8)
            acl.rt.memcpy(self.address, self.room, acl.util.numpy_to_ptr(data), self.room, 1)
            if self.const and self.array.nbytes:
                acl.set_tensor_const(self.desc, acl.util.numpy_to_ptr(self.array),
                                     self.array.nbytes)
        self.buffer = acl.create_data_buffer(0 if self.null else self.address, self.size)

    def bytes(self):
        data = np.empty(self.room, np.uint8)
        if self.room:
            acl.rt.memcpy(acl.util.numpy_to_ptr(data), self.room, self.address, self.room, 2)
        return data.tobytes()

    def read(self):
        """The data as the description has it after a run; None of what is left out."""
        if self.array is None:
            return None
        shape = [acl.get_tensor_desc_dim_v2(self.desc, i)[0]
                 for i in range(acl.get_tensor_desc_num_dims(self.desc))]
        count = int(np.prod(shape))
        return np.frombuffer(self.bytes(), self.array.dtype, count).reshape(shape)

    def free(self):
        acl.destroy_data_buffer(self.buffer)
        acl.destroy_tensor_desc(self.desc)
        if self.address:
            acl.rt.free(self.address)


class Answer:
    """What a call gave: its code and sentence, the outputs as memory and as arrays."""

    def __init__(self, code, message, memory, arrays):
        self.code, self.message, self.memory, self.arrays = code, message, memory, arrays

    def untouched(self):
        return not any(block.strip(bytes([PATTERN])) for block in self.memory)


class Call:
    def __init__(self, name, inputs, outputs, attrs, const, in_formats, out_formats):
        self.name = name.partition("/")[0]
        in_formats, out_formats = in_formats or [ND] * 99, out_formats or [ND] * 99
        self.inputs = [Part(x, in_formats[i], i in const) for i, x in enumerate(inputs)]
        self.outputs = [Part(x, out_formats[i]) for i, x in enumerate(outputs)]
        self.attrs = dict(attrs)

    def run(self):
        for part in self.inputs:
            part.make(False)
        for part in self.outputs:
            part.make(True)
        attr, parts = make_attr(self.attrs), self.inputs + self.outputs
        try:
            code = acl.op.compile_and_execute_v2(
                self.name, [p.desc for p in self.inputs], [p.buffer for p in self.inputs],
                [p.desc for p in self.outputs], [p.buffer for p in self.outputs], attr, 0, 0, "", 0)
            code = code or acl.rt.synchronize_stream(0)
            message = acl.get_recent_err_msg() if code else ""
            arrays = [p.read() for p in self.outputs] if code == 0 else None
            return Answer(code, message, [p.bytes() for p in self.outputs], arrays)
        finally:
            acl.op.destroy_attr(attr)
            for part in parts:
                part.free()


class Bad:
    """A call that does not fit: what is wrong, words its refusal must have, and, where an operator
    may take it, the call whose outputs it must then have."""

    def __init__(self, kind, call, words=(), same_as=None):
        self.kind, self.call, self.words, self.same_as = kind, call, words, same_as


def extents(shape):
    return "x".join(map(str, shape)) if shape else "scalar"


# Outputs that callers may describe beside those of the cases: variables that are written in place,
# and statistics.
MORE_OUTPUTS = {"ApplyAdagrad": 1, "ApplyAdam": 2, "ApplyMomentum": 1, "InstanceNorm": 2}


def of_counts(good):
    if good.inputs:
        call = copy.deepcopy(good)
        call.inputs.pop()
        left_out = copy.deepcopy(good)
        left_out.inputs[-1] = Part(None)
        yield Bad("one input too few", call, same_as=left_out)
        call = copy.deepcopy(good)
        call.inputs.clear()
        yield Bad("no input", call)
    call = copy.deepcopy(good)
    call.inputs.append(Part(np.ones((2, 3), F)))
    yield Bad("one input too many", call)
    call = copy.deepcopy(good)
    call.outputs += [Part(np.ones((2, 3), F)) for _ in range(1 + MORE_OUTPUTS.get(good.name, 0))]
    yield Bad("one output too many", call, [f"{len(call.outputs)} outputs"])
    call = copy.deepcopy(good)
    call.outputs.pop()
    yield Bad("one output too few", call, same_as=good)


def of_outputs(good):
    for o, part in enumerate(good.outputs):
        call = copy.deepcopy(good)
        wrong = call.outputs[o]
        wrong.shape, wrong.size = [*part.shape, 7], part.size * 7 + 7
        yield Bad(f"shape of output {o}", call, [extents(wrong.shape)])
        if part.size == 0:
            continue
        call = copy.deepcopy(good)
        call.outputs[o].size -= 1
        yield Bad(f"small output {o}", call, [f"output {o} of", str(part.size - 1)])
        call = copy.deepcopy(good)
        call.outputs[o].null = True
        yield Bad(f"null output {o}", call, [f"output {o} of", "null"])


def of_inputs(good):
    for i, part in enumerate(good.inputs):
        if part.array is None:
            continue

        def changed(i=i, **fields):
            call = copy.deepcopy(good)
            vars(call.inputs[i]).update(fields)
            return call

        if not part.const and part.size:
            yield Bad(f"small input {i}", changed(size=part.size - 1),
                      [f"input {i} of", str(part.size - 1)])
            yield Bad(f"null input {i}", changed(null=True), [f"input {i} of", "null"])
        for dtype, word in ((STRING, "string"), (COMPLEX64, "complex64")):
            # Most names say the type; where a value must be known before, that comes first.
            yield Bad(f"type {word} of input {i}",
                      changed(dtype=dtype, const=False, size=part.size * 8),
                      [] if part.const else [word], same_as=good)
        call = copy.deepcopy(good)
        call.inputs[i].set(part.array.astype(F64 if part.array.dtype.kind == "f" else F))
        yield Bad(f"other type of input {i}", call, same_as=good)
        call = copy.deepcopy(good)
        call.inputs[i].set(np.ones((1, 1, 1, 1, 1, 1, 29), part.array.dtype))
        yield Bad(f"7 axes of input {i}", call)
        if part.array.ndim and part.size:
            first = part.array.reshape(-1)[0]
            call, spread = copy.deepcopy(good), copy.deepcopy(good)
            call.inputs[i].set(first)
            spread.inputs[i].set(np.full_like(part.array, first))
            call.inputs[i].const = spread.inputs[i].const = part.const
            yield Bad(f"scalar input {i}", call, same_as=spread)
        form = FRACTAL_NZ if part.form == ND else FRACTAL_Z
        yield Bad(f"format of input {i}", changed(form=form), ["FRACTAL"])


def of_attributes(good):
    def changed(name, value):
        call = copy.deepcopy(good)
        call.attrs[name] = value
        return call

    for name, value in good.attrs.items():
        call = copy.deepcopy(good)
        del call.attrs[name]
        yield Bad(f"{name} missing", call)
        for other in ("a text", 3, [1.5], [[1]]):
            is_list = isinstance(value, (list, tuple))
            like = isinstance(other, type(value)) and not isinstance(value, bool)
            if like and (not is_list or isinstance(other[0], type(value[0]))):
                continue
            yield Bad(f"{name} as {type(other).__name__}", changed(name, other), [f"'{name}'"])
        if isinstance(value, bool):
            continue
        if isinstance(value, str):
            yield Bad(f"{name} of no meaning", changed(name, "BOGUS"), ["BOGUS"])
        if isinstance(value, int):
            for far in (99, -99, 2**62, -2**63):
                words = [] if name.endswith("mask") else [str(far)]  # bits: the axes are told
                yield Bad(f"{name} = {far}", changed(name, far), words)
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], int):
            for far in (99, -99, 2**62):
                yield Bad(f"{name} = {far}", changed(name, [far] * len(value)))
            yield Bad(f"{name} too long", changed(name, [*value, 1, 1, 1, 1, 1, 1, 1, 1, 1]))
    yield Bad("an attribute nobody reads", changed("no_such_attribute", 3), same_as=good)


def bad_calls(good):
    for group in (of_counts, of_outputs, of_inputs, of_attributes):
        yield from group(good)
