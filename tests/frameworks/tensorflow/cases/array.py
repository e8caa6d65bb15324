# SPDX-License-Identifier: Apache-2.0
"""Shapes, slices, joins, pads: elements moved and not changed."""
from specs import ALL, FLOATS, F, K, T, V


def shapes(add):
    add.types("Reshape", ALL, tensor=T(2, 6), shape=K([3, -1]))
    for label, spec, shape in (("scalar", F(1, 1), []), ("int64", F(4), None), ("empty", F(0, 3), [3, 0])):
        add("Reshape", label, tensor=spec, shape=K([2, 2], "i64") if shape is None else K(shape, "i32"))
    add("Reshape", "at_run_time", tensor=F(2, 6), shape=V([4, 3]))
    add("Reshape", "open", tensor=F(2, 6, left_open="dims"), shape=K([-1, 4]))
    add("Reshape", "rank", tensor=F(2, 6, left_open="rank"), shape=K([-1, 4]))
    add.types("Squeeze", ALL, input=T(1, 3, 1))
    add("Squeeze", "axis", input=F(1, 3, 1), axis=[-1])
    add("Squeeze", "two", input=F(1, 3, 1, 1), axis=[0, 2])
    add("Squeeze", "none", input=F(2, 3))
    for axis in (0, 1, -1, 2, -3):
        add("ExpandDims", f"axis{axis}", input=F(2, 3), axis=K(axis))
    add.types("ExpandDims", ALL, input=T(3), axis=K(0))
    add("ExpandDims", "scalar", input=F(), axis=K(0, "i64"))
    for op in ("Shape", "Size"):
        add.types(op, ALL, input=T(2, 3))
        add(op, "int64", input=F(2, 0, 3), out_type="int64")
        add(op, "scalar", input=F())
        add(op, "open", input=F(2, 3, left_open="rank"))
    add.types("Rank", ALL, input=T(2, 3))
    add("Rank", "scalar", input=F())
    add("ShapeN", input=[F(2, 3), F(4), F()])
    add("ShapeN", "int64", input=[F(2, 3), F(4)], out_type="int64")
    add.types("Fill", ALL, dims=K([2, 3]), value=T())
    add("Fill", "at_run_time", dims=V([2, 3]), value=F())
    add("Fill", "int64", dims=K([2], "i64"), value=K(1.5))
    add("Fill", "empty", dims=K([0, 2]), value=F())
    add.types("BroadcastTo", ALL, input=T(3, 1), shape=K([2, 3, 4]))
    add("BroadcastTo", "at_run_time", input=F(1, 3), shape=V([2, 3]))
    add("BroadcastTo", "int64", input=F(), shape=K([2, 2], "i64"))
    add("BroadcastTo", "empty", input=F(1, 3), shape=K([0, 3]))
    for kind in ("i32", "i64"):
        add("BroadcastArgs", type=kind, s0=V([2, 1, 3], ""), s1=V([4, 1], ""))
        add("BroadcastGradientArgs", type=kind, s0=V([2, 1, 3], ""), s1=V([4, 1], ""))
        add("BroadcastGradientArgs", "constant", kind, s0=V([3, 1, 1], "", constant=True),
            s1=V([2, 1, 1, 4], "", constant=True))
        add("BroadcastGradientArgs", "equal", kind, s0=V([1, 3], ""), s1=V([1, 3], ""))
        add("ConcatOffset", type=kind, concat_dim=K(1), shape=[V([2, 3], "", constant=True),
                                                               V([2, 5], "", constant=True)])
    add.types("Empty", ALL, shape=K([0, 3]), dtype="$T")
    add("Empty", "zeros", shape=K([2, 3]), dtype="float32", init=True)
    add.types("Range", ("f32", "f64", "i32", "i64", "f16", "bf16", "i8", "i16", "u16", "u32"),
              start=T(values=1), limit=T(values=9), delta=T(values=2))
    add("Range", "down", start=K(5), limit=K(-1), delta=K(-2))
    add("Range", "floats", start=K(0.0), limit=K(1.0), delta=K(0.25))
    add("Range", "empty", start=K(3), limit=K(3), delta=K(1))
    for kind in FLOATS:
        add("LinSpace", type=kind, optional=True, start=T(), stop=T(), num=K(5))
    add("LinSpace", "one", start=K(2.0), stop=K(5.0), num=K(1))
    add.types("OneHot", ALL, indices=V([0, 2, -1, 5]), depth=K(3), on_value=V(1, "", constant=True),
              off_value=V(0, "", constant=True))
    for axis in (0, 1, -1):
        add("OneHot", f"axis{axis}", indices=V([[0, 2], [1, 1]], "i64"), depth=K(4), on_value=K(5.0),
            off_value=K(-1.0), axis=axis)
    add("OneHot", "bytes", indices=V([1, 0], "u8"), depth=K(2), on_value=V(1.0), off_value=V(0.0))
    add("OneHot", "at_run_time", indices=V([1, 0]), depth=V(3), on_value=K(1.0), off_value=K(0.0))


def slices(add):
    add.types("StridedSlice", ALL, input=T(4, 5), begin=K([1, 0]), end=K([3, 5]), strides=K([1, 2]))
    for label, begin, end, strides, masks in (
            ("negative", [-1, -2], [-4, -5], [-1, -1], {}), ("begin_mask", [9, 1], [2, 4], [1, 1], {"begin_mask": 1}),
            ("end_mask", [1, 1], [0, 0], [1, 2], {"end_mask": 3}),
            ("reverse", [0, 0], [0, 0], [-1, 1], {"begin_mask": 3, "end_mask": 3}),
            ("shrink", [1, 0], [2, 5], [1, 1], {"shrink_axis_mask": 1}),
            ("shrink_negative", [-1, 0], [0, 5], [1, 1], {"shrink_axis_mask": 1}),
            ("new_axis", [0, 0, 0], [4, 1, 5], [1, 1, 2], {"new_axis_mask": 2}),
            ("ellipsis", [0, 1], [0, 3], [1, 1], {"ellipsis_mask": 1}),
            ("ellipsis_last", [1, 0], [3, 0], [1, 1], {"ellipsis_mask": 2}),
            ("all", [1, 0, 0, 0], [2, 0, 1, 4], [1, 1, 1, 3],
             {"shrink_axis_mask": 1, "ellipsis_mask": 2, "new_axis_mask": 4}),
            ("short", [2], [3], [1], {}), ("clamped", [-9, 2], [99, 99], [1, 1], {}),
            ("empty", [3, 0], [1, 5], [1, 1], {})):
        add("StridedSlice", label, input=F(4, 5), begin=K(begin), end=K(end), strides=K(strides), **masks)
    add("StridedSlice", "int64", input=F(4, 5), begin=K([1], "i64"), end=K([3], "i64"), strides=K([1], "i64"))
    add("StridedSlice", "at_run_time", input=F(4, 5), begin=V([1, 0]), end=V([3, 5]), strides=K([1, 2]))
    add("StridedSlice", "open", input=F(4, 5, left_open="dims"), begin=K([1, 0]), end=K([3, 0]),
        strides=K([1, 1]), end_mask=2)
    add("StridedSlice", "rank", input=F(4, 5, left_open="rank"), begin=K([1]), end=K([2]), strides=K([1]),
        shrink_axis_mask=1)
    add("StridedSliceGrad", shape=K([4, 5]), begin=K([1, 0]), end=K([3, 5]), strides=K([1, 2]), dy=F(2, 3))
    add("StridedSliceGrad", "shrink", shape=K([4, 5]), begin=K([1, 0]), end=K([2, 5]), strides=K([1, 1]),
        dy=F(5), shrink_axis_mask=1)
    add("TensorStridedSliceUpdate", input=F(4, 5), begin=K([1, 0]), end=K([3, 5]), strides=K([1, 2]),
        value=F(2, 3))
    add("TensorStridedSliceUpdate", "shrink", input=F(4, 5), begin=K([1]), end=K([2]), strides=K([1]),
        value=F(5), shrink_axis_mask=1)
    add.types("Slice", ALL, input=T(4, 5), begin=K([1, 2]), size=K([2, -1]))
    add("Slice", "int64", input=F(4, 5), begin=K([1, 0], "i64"), size=K([1, 3], "i64"))
    add("Slice", "at_run_time", input=F(4, 5), begin=V([1, 2]), size=K([2, 2]))
    add("Slice", "size_at_run_time", input=F(4, 5), begin=V([1, 2]), size=V([2, 2]))
    add("Slice", "empty", input=F(4, 5), begin=K([1, 2]), size=K([0, 3]))
    for op in ("Split", "SplitV"):
        extra = {"num_split": 3} if op == "Split" else {"size_splits": K([1, -1, 3]), "num_split": 3}
        add.types(op, ALL, value=T(2, 6), axis=K(1), **extra)
        add(op, "negative", value=F(2, 6, 2), axis=K(-2), **extra)
    add("Split", "one", value=F(2, 3), axis=K(0), num_split=1)
    add("SplitV", "int64", value=F(5), size_splits=K([2, 3], "i64"), axis=K(0), num_split=2)
    add("SplitV", "empty", value=F(5), size_splits=K([0, 5]), axis=K(0), num_split=2)


def joins(add):
    add.types("ConcatV2", ALL, values=[T(2, 3), T(2, 1)], axis=K(1))
    for axis in (0, -1, -3):
        add("ConcatV2", f"axis{axis}", values=[F(2, 3, 2), F(2, 3, 2), F(2, 3, 2)], axis=K(axis))
    add("ConcatV2", "empty", values=[F(0, 3), F(2, 3)], axis=K(0))
    add("ConcatV2", "int64", values=[F(1), F(2)], axis=K(0, "i64"))
    add("ConcatV2", "open", values=[F(2, 3, left_open="dims"), F(1, 3)], axis=K(0))
    add.types("Concat", ALL, concat_dim=K(1), values=[T(2, 3), T(2, 1)])
    for axis in (0, 1, -1):
        add("Pack", f"axis{axis}", values=[F(2, 3), F(2, 3)], axis=axis)
        add("Unpack", f"axis{axis}", value=F(2, 2), num=2, axis=axis)
    add.types("Pack", ALL, values=[T(3), T(3)])
    add("Pack", "scalars", values=[F(), F(), F()])
    add.types("Unpack", ALL, value=T(2, 3), num=2)
    add("Unpack", "middle", value=F(2, 3, 2), num=3, axis=-2)
    add("ParallelConcat", values=[F(1, 3), F(1, 3)], shape=[2, 3])
    add.types("Tile", ALL, input=T(2, 3), multiples=K([2, 1]))
    add("Tile", "int64", input=F(2, 1), multiples=K([1, 3], "i64"))
    add("Tile", "at_run_time", input=F(2, 3), multiples=V([2, 2]))
    add("Tile", "zero", input=F(2, 3), multiples=K([0, 2]))
    add.types("Transpose", ALL, x=T(2, 3, 4), perm=K([2, 0, 1]))
    add("Transpose", "int64", x=F(2, 3), perm=K([1, 0], "i64"))
    add("Transpose", "at_run_time", x=F(2, 3), perm=V([1, 0]))
    add("Transpose", "rank", x=F(2, 3, 4, 5, left_open="rank"), perm=K([0, 3, 1, 2]))
    add("Transpose", "empty", x=F(2, 0), perm=K([1, 0]))
    add.types("ConjugateTranspose", ("f32", "c64", "c128"), x=T(2, 3), perm=K([1, 0]))
    add.types("ReverseV2", ALL, tensor=T(2, 3), axis=K([1]))
    add("ReverseV2", "two", tensor=F(2, 3, 2), axis=K([-1, 0]))
    add("ReverseV2", "none", tensor=F(2, 3), axis=K([], "i32"))
    add.types("Reverse", ALL, tensor=T(2, 3), dims=K([True, False]))
    add.types("ReverseSequence", ALL, input=T(3, 4), seq_lengths=V([1, 4, 2]), seq_dim=1)
    add("ReverseSequence", "time_first", input=F(4, 3, 2), seq_lengths=V([0, 3, 2], "i64"), seq_dim=0,
        batch_dim=1)
    add.types("Roll", ALL, input=T(3, 4), shift=K(1), axis=K(1))
    add("Roll", "two", input=F(3, 4), shift=K([1, -2]), axis=K([0, -1]))
    add("Roll", "int64", input=F(5), shift=K([7], "i64"), axis=K([0], "i64"))
    for op in ("DeepCopy", "GuaranteeConst"):
        add(op, **{"x" if op == "DeepCopy" else "input": F(2, 3)})


def pads(add):
    add.types("Pad", ALL, input=T(2, 3), paddings=K([[1, 0], [0, 2]]))
    add("Pad", "int64", input=F(2, 3), paddings=K([[1, 0], [0, 2]], "i64"))
    add("Pad", "at_run_time", input=F(2, 3), paddings=V([[1, 0], [0, 2]]))
    add("Pad", "zero", input=F(2, 3), paddings=K([[0, 0], [0, 0]]))
    add.types("PadV2", ALL, input=T(2, 3), paddings=K([[1, 0], [0, 2]]), constant_values=T())
    for mode in ("REFLECT", "SYMMETRIC"):
        add.types("MirrorPad", ALL, mode, input=T(3, 4), paddings=K([[1, 2], [0, 3]]), mode=mode)
    add("MirrorPad", "at_run_time", input=F(3, 4), paddings=V([[1, 2], [0, 3]]), mode="REFLECT")
    add("MirrorPadGrad", input=F(6, 7), paddings=K([[1, 2], [0, 3]]), mode="REFLECT")
    add("MirrorPadGrad", "symmetric", input=F(7, 8), paddings=K([[2, 2], [1, 3]]), mode="SYMMETRIC")
    add("MirrorPadGrad", "f64", "f64", input=T(2, 5), paddings=K([[0, 0], [1, 0]], "i64"), mode="REFLECT")
    add.types("SpaceToBatchND", ALL, input=T(1, 4, 6, 1), block_shape=K([2, 3]), paddings=K([[0, 0], [0, 0]]))
    add("SpaceToBatchND", "pads", input=F(2, 3, 4, 2), block_shape=K([2, 2]), paddings=K([[1, 0], [1, 1]]))
    add("SpaceToBatchND", "one_axis", input=F(2, 4, 3), block_shape=K([2]), paddings=K([[0, 0]]))
    add.types("BatchToSpaceND", ALL, input=T(6, 2, 2, 1), block_shape=K([2, 3]), crops=K([[0, 0], [0, 0]]))
    add("BatchToSpaceND", "crops", input=F(8, 3, 4, 2), block_shape=K([2, 2]), crops=K([[1, 0], [1, 1]]))
    add("SpaceToBatch", input=F(1, 4, 4, 2), paddings=K([[0, 0], [0, 0]]), block_size=2)
    add("SpaceToBatch", "pads", input=F(1, 3, 4, 1), paddings=K([[1, 0], [1, 1]]), block_size=2)
    add("BatchToSpace", input=F(4, 2, 2, 2), crops=K([[0, 0], [0, 1]]), block_size=2)
    for kind in ALL:
        add("SpaceToDepth", type=kind, optional=True, input=T(1, 4, 4, 3), block_size=2)
        add("DepthToSpace", type=kind, optional=True, input=T(1, 2, 2, 12), block_size=2)
    add("SpaceToDepth", "batch", input=F(2, 3, 6, 2), block_size=3)
    add("DepthToSpace", "batch", input=F(2, 1, 2, 9), block_size=3)


def cases(add):
    shapes(add)
    slices(add)
    joins(add)
    pads(add)
