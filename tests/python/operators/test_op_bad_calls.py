# SPDX-License-Identifier: Apache-2.0
"""Every operator of the table with calls that do not fit, made from its good case by bad_calls.py:
counts, shapes, types, formats, buffers and attributes. Each is refused with a documented code and a
sentence that names the operator and the values, and nothing is written; what an operator does take
gives the result that the tables below state. The good call works directly afterwards, with the same
bytes."""
import functools

import numpy as np
import pytest
from bad_calls import Call, Part, bad_calls
from misuse import codes
from single_op import make_attr
from test_op_exactness import NAMES, case_of

import acl

pytestmark = pytest.mark.usefixtures("runtime")
F, I32 = np.float32, np.int32

# Operators that draw, by a seed: what they give is compared with the same call.
DRAWN = {
    "Multinomial": ([np.log(np.array([[5, 3, 2], [1, 1, 8]], F)), np.array(40, I32)],
                    [np.zeros((2, 40), I32)], {"seed": 3, "seed2": 4}, (1,), None, None),
    **{name: ([np.array([3, 5], I32)], [np.zeros((3, 5), F)], {"seed": 3, "seed2": 4}, (0,), None,
              None) for name in ("RandomStandardNormal", "RandomUniform")},
}
NAMES = [*NAMES, *DRAWN]
SEEDS = {"seed": 0, "seed2": 0}

# {code: its name} of what may be wrong with a call, of tests/data/misuse_codes.tsv.
CODES = {int(rule.code): rule.name for rule in codes.load()
         if rule.kinds == "does not fit" and rule.functions == r"acl\.op\.\w+"}

# Inputs at the end that an operator's definition calls optional.
OPTIONAL = {"BNInfer", "BNInference", "BNInferenceD", "CommonGRU", "CommonLSTM", "DynamicGRUV2",
            "DynamicRNN", "DynamicRNNV2", "GEMM", "GroupNorm", "InstanceNorm", "LayerNorm",
            "LayerNormV3", "MatMulV2", "NLLLoss", "NonMaxSuppressionV6", "PadV2", "PadV3",
            "Quantize", "Scale", "StridedSliceV2", "ThresholdV2", "TopKD"}
ANY_NUMBER = {"Eltwise/max"}  # of inputs, without an attribute that counts them

# Attributes that say what the descriptions say too, and may be left out.
REPEATED = {"N", "num", "num_split", "num_output", "dst_type", "src_format", "dst_format",
            "data_format", "begin_params_axis", "dim"}
# What an attribute is when it is left out; those that are in neither table are required.
DEFAULTS = {
    "ApplyAdagradD": {"update_slots": True}, "ApplyAdam": {"use_nesterov": False},
    "ApplyMomentumD": {"use_nesterov": False}, "AvgPool": {"padding": "VALID"},
    "AvgPoolV2": {"padding_mode": "VALID"}, "BNInfer": {"epsilon": 1e-5},
    "BNInference": {"epsilon": 1e-5}, "BNInferenceD": {"epsilon": 1e-5},
    "BatchNorm": {"epsilon": 1e-4}, "Bias": {"axis": 1}, "Celu": {"alpha1": 1.0},
    "CeluV2": {"alpha": 1.0}, "CommonGRU": {"linear_before_reset": 0},
    "CommonLSTM": {"direction": "forward"}, "Conv2D": {"dilations": [1, 1, 1, 1]},
    "Crop": {"offsets": [0]}, "CumsumD": {"reverse": False}, "DFT": {"axis": 1},
    "DynamicRNN": {"forget_bias": 0.0},
    "Eltwise": {"mode": 1, "coeff": [1.0, 1.0, 1.0]}, "Elu": {"alpha": 1.0},
    "Exp": {"base": -1.0, "scale": 1.0, "shift": 0.0}, "Flatten": {"axis": 1},
    "FullyConnection": {"axis": 1}, "GatherElements": {"dim": 0}, "GlobalLpPool": {"p": 2.0},
    "HannWindow": {"periodic": 1}, "HardSigmoid": {"alpha": 0.16666666, "beta": 0.5},
    "HardtanhV2": {"min": -3.4e38, "max": 3.4e38}, "L2Normalize": {"axis": [0, 1], "eps": 1e-4},
    "LpNormReduceV2": {"p": 2.0, "keepdim": False}, "LpNormUpdateV2": {"p": 2.0},
    "ResizeBicubic": {"half_pixel_centers": False},
    "LRN": {"depth_radius": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5},
    "LayerNorm": {"epsilon": 1e-7}, "LayerNormV3": {"epsilon": 1e-7},
    "LeakyRelu": {"negative_slope": 0.0}, "Log": {"base": -1.0}, "LogSoftmaxV2": {"axes": [-1]},
    "MVN": {"across_channels": False, "normalize_variance": True}, "MVNV2": {"axes": [0, 2, 3]},
    "MatMul": {"transpose_x1": False, "transpose_x2": False}, "MaxPool": {"padding": "VALID"},
    "MaxPoolV2": {"padding": "VALID"}, "MaxPoolV3": {"padding_mode": "VALID"},
    "MirrorPad": {"mode": "constant"}, "NonMaxSuppression": {"iou_threshold": 0.5},
    "OneHot": {"axis": -1}, "OneHotD": {"axis": -1}, "PadV3D": {"mode": "constant"},
    "Pooling": {"mode": 0}, "Power": {"power": 1.0, "scale": 1.0, "shift": 0.0},
    "Quantize": {"dtype": "torch.qint8", "axis": 1},
    "ROIAlign": {"sample_num": 2, "roi_end_mode": 1}, "ROIPooling": {"spatial_scale_w": 1.0},
    "ReduceMaxD": {"keep_dims": False}, "ReduceMeanD": {"keep_dims": False},
    "Reduction": {"operation": "SUM", "coeff": 1.0}, "ReverseSequence": {"batch_dim": 0},
    "RmsNorm": {"epsilon": 1e-6}, "Scale": {"axis": 1}, "ScatterElements": {"axis": 0},
    "Shrink": {"lambd": 0.5, "bias": 0.0}, "ShuffleChannel": {"group": 1}, "Softmax": {"axis": -1},
    "SoftmaxV2": {"axes": [-1]}, "Squeeze": {"axis": [0]}, "SqueezeV2": {"axis": [0]},
    "SqueezeV3": {"axes": [0]}, "StridedSliceD": {"begin_mask": 0}, "Swish": {"scale": 1.0},
    "Threshold": {"threshold": 0.0}, "Tril": {"diagonal": 0}, "Upsample": {"scale": 1.0},
    **dict.fromkeys(DRAWN, SEEDS),
}  # fmt: skip

# What may stand anywhere: a value that is far for an axis is one like another there.
FREE = {"StridedSliceD": {"begin_mask", "end", "end_mask"}, "Tril": {"diagonal"},
        "LRN": {"depth_radius"}, "ROIAlign": {"sample_num"}, **dict.fromkeys(DRAWN, SEEDS)}


def good_call(name):
    return Call(name, *(DRAWN[name] if name in DRAWN else case_of(name)))


def as_good(call, good):
    return good.run().arrays


def far_value(call, good):
    """The outputs of a call with a value of FREE."""
    name, value = next((n, v) for n, v in call.attrs.items() if v != good.attrs[n])
    if name == "diagonal":
        rows = max(good.inputs[0].shape)
        return [np.tril(good.inputs[0].array, np.clip(value, -rows, rows))]
    if name in SEEDS:  # drawn anew, and not what the good call draws
        want = with_attribute(good, name, value)
        return want if not close(want, as_good(call, good)) else None
    if name == "depth_radius":  # all channels
        return with_attribute(good, name, good.inputs[0].shape[1])
    if name.endswith("mask"):  # bits beyond the axes say nothing
        return with_attribute(good, name, value & (1 << len(good.attrs["begin"])) - 1)
    return as_good(call, good) if name == "end" else None  # its bits of end_mask are set


def with_attribute(good, name, value):
    """The outputs of the good call with another value of one attribute."""
    call = Call(good.name, [], [], {**good.attrs, name: value}, (), None, None)
    call.inputs, call.outputs = good.inputs, good.outputs
    return call.run().arrays


def without_attribute(call, good):
    name, = good.attrs.keys() - call.attrs.keys()
    if name in REPEATED and name not in DEFAULTS.get(good.name, ()):
        return as_good(call, good)
    return with_attribute(good, name, DEFAULTS[good.name][name])


def whole_sum(call, good):
    x = call.inputs[0].array
    return [np.array((x * x).sum() / 2, F)]


def by_bits(call, good):
    """More bits than elements are taken, as the card pads them."""
    x, mask = good.inputs[0].array, call.inputs[1].array.reshape(-1)
    return [x * np.unpackbits(mask, bitorder="little")[:x.size].reshape(x.shape) * 2]


# Tensors of other ranks that an operator takes, with what comes out.
RANKS = {
    "L2Loss": whole_sum,
    "Size": lambda call, good: [np.array(call.inputs[0].array.size, I32)],
    "TopKD": as_good,  # the ramp is not needed
    "DropOutDoMask": by_bits,
    "NonZero": lambda call, good: [np.zeros((int(call.inputs[0].array != 0), 0), np.int64)],
    "Where": lambda call, good: [np.zeros((int(call.inputs[0].array != 0), 0), np.int64)],
    "Unique": lambda call, good: [call.inputs[0].array.reshape(1), np.zeros(1, I32)],
    "UniqueWithCounts": lambda call, good: [call.inputs[0].array.reshape(1), np.zeros(1, I32),
                                            np.ones(1, I32)],
}  # fmt: skip


def expected(name, bad, good):
    """The outputs of a call that an operator takes; None when it must refuse it."""
    kind, short = bad.kind, good.name
    if kind == "one input too few" and short in OPTIONAL:
        return bad.same_as.run().arrays
    if kind.startswith("one input too") and name in ANY_NUMBER:
        return [functools.reduce(np.maximum, [p.array for p in bad.call.inputs])]
    if kind.endswith("missing") and (short in DEFAULTS or kind.split()[0] in REPEATED):
        return without_attribute(bad.call, good)
    if "axes of input" in kind or ("scalar input" in kind and short in RANKS):
        return RANKS[short](bad.call, good) if short in RANKS else None
    if " = " in kind and kind.split()[0] in FREE.get(short, ()):
        return far_value(bad.call, good)
    if kind.endswith("too long"):
        return as_good(bad.call, good)  # by ones, which a description may leave out
    if kind != "one input too few" and bad.same_as:
        return bad.same_as.run().arrays
    return None


def close(got, want):
    return all(a.shape == b.shape and np.allclose(a, b, rtol=2e-5, atol=2e-5, equal_nan=True)
               for a, b in zip(got, want))


def fault_of(name, bad, good):
    """What is wrong with the answer to a bad call, or None."""
    answer = bad.call.run()
    if answer.code == 0:
        want = expected(name, bad, good)
        if want is None:
            return None if "sample_num" in bad.kind else "was taken"
        return None if close(answer.arrays, want) else f"gave {answer.arrays}, expected {want}"
    if answer.code not in CODES or CODES[answer.code] not in answer.message:
        return f"code {answer.code}: {answer.message}"
    if not answer.untouched():
        return f"wrote before it refused: {answer.message}"
    text = answer.message.partition(CODES[answer.code])[2].lower()
    missing = [w for w in (good.name, *bad.words) if w.lower() not in text]
    if missing and not ("described as" in text and good.name.lower() in text):
        return f"no word of {missing}: {answer.message}"
    return None


@pytest.mark.parametrize("first", sorted({name[0] for name in NAMES}))
def test_what_does_not_fit_is_refused_and_nothing_is_half_done(first):
    faults, calls = {}, 0
    free_before = acl.rt.get_mem_info(1)[0]
    for name in (n for n in NAMES if n[0] == first):
        good = good_call(name)
        before = good.run()
        assert before.code == 0, before.message
        for bad in bad_calls(good):
            calls += 1
            if fault := fault_of(name, bad, good):
                faults[f"{name}: {bad.kind}"] = fault
        again = good.run()
        if (again.code, again.memory) != (0, before.memory):
            faults[f"{name}: the good call afterwards"] = again.message or "other bytes"
    assert not faults, "\n".join(f"{kind}: {fault}" for kind, fault in faults.items())
    assert calls > 15
    assert acl.rt.get_mem_info(1)[0] == free_before


def infer(call):
    """The codes of acl.op.infer_shape and acl.op.compile, and the sentence of the first."""
    for part in call.inputs:
        part.make(False)
    for part in call.outputs:
        part.make(True)
    attr = make_attr(call.attrs)
    found = [acl.create_tensor_desc(-1, [], -1) for _ in call.outputs]
    given = [p.desc for p in call.inputs]
    code = acl.op.infer_shape(call.name, given, [p.buffer for p in call.inputs], len(found), found,
                              attr)
    message = acl.get_recent_err_msg() if code else ""
    compiled = acl.op.compile(call.name, given, [p.desc for p in call.outputs], attr, 0, 0, "")
    for desc in found:
        acl.destroy_tensor_desc(desc)
    acl.op.destroy_attr(attr)
    for part in call.inputs + call.outputs:
        part.free()
    return code, compiled, message


# What only the description of an output can say, which is not there yet.
BY_OUTPUT = {"dst_type missing", "dst_format missing"}


def test_shapes_of_what_does_not_fit_are_refused_alike():
    """What acl.op.infer_shape refuses is not compiled either, and both say why."""
    faults, calls = {}, 0
    for name in NAMES:
        good = good_call(name)
        for bad in bad_calls(good):
            if bad.kind.startswith(("small", "null")):  # buffers
                continue
            calls += 1
            code, compiled, message = infer(bad.call)
            alike = compiled != 0 or bad.kind in BY_OUTPUT
            if code and not (code in CODES and good.name in message and alike):
                faults[f"{name}: {bad.kind}"] = f"{code}, compiled with {compiled}: {message}"
    assert not faults, "\n".join(f"{kind}: {fault}" for kind, fault in faults.items())
    assert calls > 7000


def test_attributes_may_be_infinite_or_no_number():
    for value in (np.inf, -np.inf, np.nan):
        x = np.array([1, -2, 3], F)
        answer = Call("Adds", [x], [x], {"value": float(value)}, (), None, None).run()
        assert answer.code == 0, answer.message
        np.testing.assert_array_equal(answer.arrays[0], x + F(value))


def test_a_mask_of_floats_is_no_condition():
    """Cast to booleans one by one it would be 0 for 0.5."""
    half = np.array([0.5, 0], F)
    for name, inputs in (("ReduceAnyD", [half]), ("Select", [half, half, half]),
                         ("MaskedFill", [half, half, F(1)])):
        like = np.array(True) if name == "ReduceAnyD" else half
        attrs = {"axes": [0]} if name == "ReduceAnyD" else {}
        answer = Call(name, inputs, [like], attrs, (), None, None).run()
        assert answer.code == 100026, answer.message
        assert "float32" in answer.message


def test_left_out_outputs_in_front_are_not_taken_for_others():
    x = np.arange(6, dtype=F).reshape(2, 3)
    call = Call("ArgMaxWithValue", [x], [np.zeros(2, I32), np.zeros(2, F)], {"dimension": 1}, (),
                None, None)
    call.outputs[1] = Part(None)
    answer = call.run()
    assert answer.code == 0, answer.message
    np.testing.assert_array_equal(answer.arrays[0], [2, 2])
