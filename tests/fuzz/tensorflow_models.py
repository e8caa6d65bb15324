# SPDX-License-Identifier: Apache-2.0
"""Small frozen GraphDefs for the corpus: every part of the format, and of the importer."""
import graph_def_file as gd
import numpy as np

ONES = [1, 1, 1, 1]


def conv_net():
    w = np.full((3, 3, 2, 2), 0.25, np.float32)
    return gd.graph([
        gd.placeholder("x", [1, 4, 4, 2]), gd.const("w", w), gd.const("b", np.float32([1, 2])),
        gd.const("p", np.int32([[0, 0], [1, 1], [1, 1], [0, 0]])), gd.const("a", np.int32([1, 2])),
        gd.node("c", "Conv2D", ["x", "w"], padding="SAME", strides=ONES),
        gd.node("n", "FusedBatchNormV3", ["c", "b", "b", "b", "b"], is_training=False),
        gd.node("pad", "Pad", ["n", "p"]),
        gd.node("d", "Conv2D", ["pad", "w"], padding="VALID", strides=[1, 2, 2, 1]),
        gd.node("r", "Relu6", ["d"]), gd.node("m", "Mean", ["r", "a"], keep_dims=False),
        gd.node("y", "Softmax", ["m"])])


def shapes():
    return gd.graph([
        gd.placeholder("x", [2, 3, 4]), gd.node("s", "Shape", ["x"]), gd.const("z", np.int32([0])),
        gd.const("o", np.int32([1])), gd.const("k", np.int32(2)), gd.const("f", np.int32(12)),
        gd.node("n", "StridedSlice", ["s", "z", "o", "o"], shrink_axis_mask=1),
        gd.node("t", "Pack", ["n", "f"]), gd.node("r", "Reshape", ["x", "t"]),
        gd.node("y", "TopKV2", ["r", "k"])])


def old_loop():
    def frame(name, start):
        return [gd.node(f"{name}e", "Enter", [start], frame_name="l"),
                gd.node(f"{name}m", "Merge", [f"{name}e", f"{name}n"]),
                gd.node(f"{name}s", "Switch", [f"{name}m", "go"]),
                gd.node(f"{name}x", "Exit", [f"{name}s"])]
    return gd.graph([gd.placeholder("x", [3]), gd.const("zero", np.int32(0)),
                     gd.const("n", np.int32(2)), gd.const("one", np.int32(1)),
                     *frame("i", "zero"), *frame("v", "x"),
                     gd.node("less", "Less", ["im", "n"]), gd.node("go", "LoopCond", ["less"]),
                     gd.node("ia", "AddV2", ["is:1", "one"]), gd.node("va", "Neg", ["vs:1"]),
                     gd.node("in", "NextIteration", ["ia"]),
                     gd.node("vn", "NextIteration", ["va"])])


def old_branch():
    return gd.graph([gd.placeholder("x", [3]), gd.placeholder("c", [], "bool"),
                     gd.node("s", "Switch", ["x", "c"]), gd.node("no", "Neg", ["s:0"]),
                     gd.node("yes", "Square", ["s:1"]), gd.node("y", "Merge", ["no", "yes"])])


def new_loop():
    args = [("i", "int32"), ("list", "float32"), ("x", "float32")]
    cond = gd.function(
        "c", args, [gd.const("n", np.int32(2)), gd.node("l", "Less", ["i", "n:o:0"])], ["l:z:0"])
    body = gd.function("b", args, [
        gd.const("one", np.int32(1)), gd.node("a", "AddV2", ["i", "one:o:0"]),
        gd.node("s", "TensorListSetItem", ["list", "i", "x"], element_dtype=gd.Type(1))],
        ["a:z:0", "s:o:0", "x"])
    return gd.graph([
        gd.placeholder("x", [2]), gd.const("zero", np.int32(0)), gd.const("n", np.int32(2)),
        gd.const("any", np.int32(-1)),
        gd.node("list", "TensorListReserve", ["any", "n"], element_dtype=gd.Type(1)),
        gd.node("w", "While", ["zero", "list", "x"], cond=gd.Function("c"), body=gd.Function("b")),
        gd.node("y", "TensorListStack", ["w:1", "any"], element_dtype=gd.Type(1))], [cond, body])


def call():
    f = gd.function("f", [("a", "float32")], [gd.node("r", "Relu", ["a"])], ["r:activations:0"])
    return gd.graph([gd.placeholder("x", [2]),
                     gd.node("y", "PartitionedCall", ["x"], f=gd.Function("f"))], [f])


def detection():
    return gd.graph([
        gd.placeholder("x", [1, 4, 4, 1]), gd.placeholder("b", [3, 4]), gd.placeholder("s", [3]),
        gd.const("i", np.int32([0, 0, 0])), gd.const("size", np.int32([2, 2])),
        gd.const("m", np.int32(2)), gd.const("t", np.float32(0.5)),
        gd.node("crop", "CropAndResize", ["x", "b", "i", "size"]),
        gd.node("big", "ResizeBilinear", ["x", "size"], half_pixel_centers=True),
        gd.node("nms", "NonMaxSuppressionV3", ["b", "s", "m", "t", "t"]),
        gd.node("nms5", "NonMaxSuppressionV5", ["b", "s", "m", "t", "t", "t"],
                pad_to_max_output_size=True)])


def switch_case():
    return gd.graph([gd.placeholder("x", [3]), gd.placeholder("n", [], "int32"),
                     gd.node("s", "_SwitchN", ["x", "n"], num_outs=3), gd.node("a", "Neg", ["s:0"]),
                     gd.node("b", "Square", ["s:1"]), gd.node("c", "Relu", ["s:2"]),
                     gd.node("y", "Merge", ["a", "b", "c"])])


def complex_numbers():
    return gd.graph([
        gd.placeholder("x", [2, 4], "complex64"), gd.const("axis", np.int32([1])),
        gd.const("n", np.int32([4])), gd.node("e", "Exp", ["x"]), gd.node("f", "FFT", ["e"]),
        gd.node("s", "Sum", ["f", "axis"]), gd.node("p", "Prod", ["x", "axis"]),
        gd.node("m", "MatMul", ["x", "x"], transpose_b=True), gd.node("r", "IRFFT", ["f", "n"]),
        gd.node("a", "ComplexAbs", ["m"]), gd.node("b", "Bitcast", ["r"], type=gd.Type(4))])


def linear_algebra():
    return gd.graph([
        gd.placeholder("x", [2, 3, 3]), gd.placeholder("y", [3, 1]),
        gd.node("inverse", "MatrixInverse", ["x"], adjoint=True),
        gd.node("solved", "MatrixSolve", ["x", "y"]),
        gd.node("triangle", "MatrixTriangularSolve", ["x", "y"], lower=False),
        gd.node("svd", "Svd", ["x"]), gd.node("eig", "SelfAdjointEigV2", ["x"]),
        gd.node("qr", "Qr", ["x"], full_matrices=True), gd.node("lu", "Lu", ["x"]),
        gd.node("tri", "TridiagonalSolve", ["x", "y"])])


def pictures():
    transform = np.float32([[0.9, 0.1, 0.5, -0.1, 1.1, -0.3, 0.0, 0.0]])
    return gd.graph([
        gd.placeholder("x", [1, 4, 5, 1]), gd.const("size", np.int32([3, 2])),
        gd.const("half", np.float32([0.5, 0.5])), gd.const("t", transform),
        gd.node("cubic", "ResizeBicubic", ["x", "size"], half_pixel_centers=True),
        gd.node("area", "ResizeArea", ["x", "size"]),
        gd.node("scaled", "ScaleAndTranslate", ["x", "size", "half", "half"],
                kernel_type="lanczos3"),
        gd.node("grad", "ResizeBilinearGrad", ["x", "x"]),
        gd.node("moved", "ImageProjectiveTransformV2", ["x", "t", "size"], interpolation="BILINEAR",
                fill_mode="REFLECT")])


def sets():
    return gd.graph([
        gd.placeholder("a", [2, 3], "int32"), gd.placeholder("b", [2, 2], "int32"),
        gd.const("begin", np.int32([0, 1])), gd.const("end", np.int32([2, 3])),
        gd.const("step", np.int32([1, 1])), gd.placeholder("f", [3]), gd.const("d", np.float32(1)),
        gd.node("set", "DenseToDenseSetOperation", ["a", "b"], set_operation="union"),
        gd.node("put", "TensorStridedSliceUpdate", ["a", "begin", "end", "step", "b"]),
        gd.node("rows", "RaggedRange", ["f", "f", "d"])])


def uneven_lists():
    """Elements of different lengths: cut, read, set, pushed, joined, stacked; an array of 1.x."""
    kind = {"element_dtype": gd.Type(1)}
    return gd.graph([
        gd.placeholder("x", [5, 4]), gd.placeholder("n", [2], "int64"),
        gd.placeholder("at", [], "int32"), gd.const("any", np.int32([-1, 4])),
        gd.node("list", "TensorListSplit", ["x", "any", "n"], **kind),
        gd.node("one", "TensorListGetItem", ["list", "at", "any"], **kind),
        gd.node("set", "TensorListSetItem", ["list", "at", "x"], **kind),
        gd.node("more", "TensorListPushBack", ["set", "one"], **kind),
        gd.node("rows", "TensorListConcatV2", ["more", "any", "n"], **kind),
        gd.node("stack", "TensorListStack", ["list", "any"], **kind),
        gd.const("two", np.int32(2)), gd.const("zero", np.int32(0)),
        gd.node("array", "TensorArrayV3", ["two"], dtype=gd.Type(1)),
        gd.node("cut", "TensorArraySplitV3", ["array", "x", "n", "array:1"], T=gd.Type(1)),
        gd.node("read", "TensorArrayReadV3", ["array", "zero", "cut"], dtype=gd.Type(1)),
        gd.node("all", "TensorArrayConcatV3", ["array", "cut"], dtype=gd.Type(1))])


def ragged_map():
    """map_fn over the rows of a ragged tensor, with rows of another length as results."""
    variants = {"element_dtype": gd.Type(21)}
    args = [("i", "int32"), ("made", "float32"), ("rows", "float32")]
    cond = gd.function(
        "c", args, [gd.const("n", np.int32(3)), gd.node("l", "Less", ["i", "n:o:0"])], ["l:z:0"])
    body = gd.function("b", args, [
        gd.const("one", np.int32(1)), gd.const("axis", np.int32(0)), gd.const("any", np.int32(-1)),
        gd.node("a", "AddV2", ["i", "one:o:0"]),
        gd.node("g", "TensorListGetItem", ["rows", "i", "any:o:0"], **variants),
        gd.node("f", "RaggedTensorFromVariant", ["g:item:0"], output_ragged_rank=0),
        gd.node("j", "ConcatV2", ["f:output_dense_values:0", "f:output_dense_values:0",
                                  "axis:o:0"]),
        gd.node("v", "RaggedTensorToVariant", ["j:o:0"], RAGGED_RANK=0, batched_input=False),
        gd.node("s", "TensorListSetItem", ["made", "i", "v:o:0"], **variants)],
        ["a:z:0", "s:o:0", "rows"])
    return gd.graph([
        gd.placeholder("x", [5]), gd.placeholder("p", [4], "int64"), gd.const("zero", np.int32(0)),
        gd.const("n", np.int32(3)), gd.const("any", np.int32(-1)),
        gd.node("r", "RaggedTensorToVariant", ["p", "x"], RAGGED_RANK=1, batched_input=True),
        gd.node("rows", "TensorListFromTensor", ["r", "any"], **variants),
        gd.node("made", "TensorListReserve", ["any", "n"], **variants),
        gd.node("w", "While", ["zero", "made", "rows"], cond=gd.Function("c"),
                body=gd.Function("b")),
        gd.node("all", "TensorListStack", ["w:1", "any"], **variants),
        gd.node("y", "RaggedTensorFromVariant", ["all"], output_ragged_rank=1)], [cond, body])


def distances():
    pair = ["hi", "hv", "hs", "ti", "tv", "ts"]
    return gd.graph([
        gd.placeholder("hi", [3, 2], "int64"), gd.placeholder("hv", [3], "int64"),
        gd.const("hs", np.int64([2, 3])), gd.placeholder("ti", [2, 2], "int64"),
        gd.placeholder("tv", [2], "int64"), gd.placeholder("ts", [2], "int64"),
        gd.node("y", "EditDistance", pair, normalize=True),
        gd.node("z", "EditDistance", pair, normalize=False)])


def gather_at_run_time():
    return gd.graph([
        gd.placeholder("x", [3, 3, 2]), gd.placeholder("i", [2], "int32"),
        gd.placeholder("axis", [], "int32"), gd.node("y", "GatherV2", ["x", "i", "axis"]),
        gd.node("order", "Transpose", ["x", "o"]), gd.placeholder("o", [3], "int32")])


def texts():
    return gd.graph([
        gd.placeholder("x", [3]), gd.const("c", np.float32([1.5, -2, 7])),
        gd.node("t", "AsString", ["c"], shortest=True, width=4, fill="0"),
        gd.node("l", "StringLower", ["t"]), gd.node("u", "StringUpper", ["l"], encoding="utf-8"),
        gd.node("n", "StringToNumber", ["u"], out_type=gd.Type(1)),
        gd.node("y", "AddV2", ["x", "n"])])


def all_models():
    made = (conv_net, shapes, old_loop, old_branch, new_loop, call, detection, switch_case,
            complex_numbers, linear_algebra, pictures, sets, uneven_lists, ragged_map, distances,
            gather_at_run_time, texts)
    return {one.__name__: one() for one in made}
