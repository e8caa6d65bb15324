# SPDX-License-Identifier: Apache-2.0
"""Reductions, running sums, segments and histograms."""
from specs import COMPLEX, FLOATS, INTS, NUMBERS, REAL, B, F, I, K, T, V

REDUCE = {"Sum": NUMBERS, "Mean": NUMBERS, "Prod": NUMBERS, "Max": REAL, "Min": REAL,
          "EuclideanNorm": FLOATS + ("i32", "i64") + COMPLEX}
IDS, SPREAD = [0, 0, 1, 1, 3], [2, 0, -1, 2, 3]  # of five rows


def reductions(add):
    for op, types in REDUCE.items():
        add.types(op, types, input=T(2, 3, 4), axis=K([1]))
        for label, axis, keep in (("last", -1, True), ("all", [0, 1, 2], False), ("two", [0, -1], True),
                                  ("none", [], False), ("scalar_axis", 0, False),
                                  ("first_keep", [-3], True), ("int64", None, False)):
            axis = K([1, 2], "i64") if axis is None else K(axis, "i32")
            add(op, label, input=F(2, 3, 4), axis=axis, keep_dims=keep)
        add(op, "empty", input=F(2, 0, 3), axis=K([1]))
        add(op, "scalar", input=F(), axis=K([], "i32"))
        add(op, "at_run_time", input=F(2, 3, 4), axis=V([1], "i32"), keep_dims=True)
        add(op, "open", input=F(2, 3, 4, left_open="dims"), axis=K([1, 2]))
        add(op, "rank", input=F(2, 3, 4, left_open="rank"), axis=K([-1]))
        add(op, "special", input=V([[float("inf"), 1.0], [float("nan"), 2.0], [3.0, -1.0]]), axis=K([1]))
    for op in ("All", "Any"):
        for label, axis, keep in (("one", [1], False), ("last", -1, True), ("all", [0, 1], False),
                                  ("none", [], True)):
            add(op, label, input=B(3, 2), axis=K(axis, "i32"), keep_dims=keep)
        add(op, "empty", input=B(2, 0), axis=K([1]))
    for op in ("ArgMax", "ArgMin"):
        add.types(op, REAL, input=T(3, 4), dimension=K(1))
        add(op, "negative", input=F(2, 3, 4), dimension=K(-2))
        add(op, "int32", input=F(2, 3), dimension=K(0), output_type="int32")
        add(op, "ties", input=V([[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]]), dimension=K(1))
        add(op, "bool", input=B(3, 4), dimension=K(1))
        add(op, "open", input=F(2, 3, left_open="dims"), dimension=K(-1))
    for op, types in (("Cumsum", NUMBERS), ("Cumprod", NUMBERS), ("CumulativeLogsumexp", FLOATS)):
        add.types(op, types, x=T(2, 3), axis=K(1))
        for exclusive in (False, True):
            for reverse in (False, True):
                add(op, f"{'exclusive' if exclusive else 'whole'}_{'back' if reverse else 'forth'}",
                    x=F(2, 3, 2), axis=K(-2), exclusive=exclusive, reverse=reverse)
        add(op, "empty", x=F(2, 0), axis=K(1))
    add.types("L2Loss", FLOATS, t=T(2, 3))


def segments(add):
    for op in ("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd"):
        types = NUMBERS if op in ("SegmentSum", "SegmentProd") else REAL
        add.types(op, types, data=T(5, 2), segment_ids=K(IDS))
        add(op, "vector", data=F(5), segment_ids=K(IDS))
        add(op, "int64", data=F(5, 2), segment_ids=K(IDS, "i64"))
        add(op, "at_run_time", data=F(5, 2), segment_ids=V(IDS))
        if op == "SegmentMean":
            continue
        add.types("Unsorted" + op, types, data=T(5, 2), segment_ids=V(SPREAD), num_segments=K(5))
        add("Unsorted" + op, "matrix", data=F(2, 3, 2), segment_ids=V([[0, 1, 0], [2, 2, 3]]),
            num_segments=K(4))
        add("Unsorted" + op, "int64", data=F(5), segment_ids=V(SPREAD, "i64"), num_segments=K(4, "i64"))
    for op in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"):
        add.types(op, FLOATS if op != "SparseSegmentSum" else REAL, data=T(4, 3),
                  indices=V([0, 2, 3, 0]), segment_ids=V([0, 0, 1, 3]))
        add(op, "constant", data=F(4, 3), indices=K([0, 2, 3, 0]), segment_ids=K([0, 0, 1, 3]))
        add(op, "vector", data=F(4), indices=V([3, 1]), segment_ids=V([0, 1]))
        add.types(op + "WithNumSegments", FLOATS, data=T(4, 3), indices=V([0, 2, 3, 0]),
                  segment_ids=V([0, 0, 1, 3]), num_segments=K(5))
        add(op + "WithNumSegments", "int64", data=F(4, 3), indices=V([0, 2], "i64"),
            segment_ids=V([0, 1], "i64"), num_segments=K(3))
    add("SparseSegmentSumGrad", grad=F(2, 3), indices=V([0, 2, 3]), segment_ids=V([0, 0, 1]),
        output_dim0=K(4))
    for kind in ("Sum", "Mean", "SqrtN"):
        add(f"SparseSegment{kind}Grad", "again", "f64", grad=T(3, 2), indices=V([1, 1, 0, 4], "i64"),
            segment_ids=V([0, 0, 0, 2]), output_dim0=K(5))
    add("SparseSegmentMeanGrad", grad=F(2, 3), indices=V([0, 2, 3]), segment_ids=V([0, 0, 1]),
        output_dim0=K(4))
    add("SparseSegmentSqrtNGrad", grad=F(2, 3), indices=V([0, 2, 3]), segment_ids=V([0, 0, 1]),
        output_dim0=K(4))


def histograms(add):
    add("Bincount", "counts", arr=V([1, 2, 2, 4]), size=K(5), weights=K([], "i32"))
    add("Bincount", "beyond", arr=V([1, 2, 2, 9]), size=K(5), weights=K([], "i32"))
    for kind in ("i32", "i64", "f32", "f64"):
        add("Bincount", "weights", kind, arr=V([1, 2, 2, 4]), size=K(6), weights=T(4))
    for kind in ("i32", "i64"):
        add("DenseBincount", "counts", kind, input=V([1, 2, 2, 4], ""), size=V(5, "", constant=True),
            weights=K([], "f32"))
    for binary in (False, True):
        add("DenseBincount", f"rows_{binary}", input=V([[1, 1, 0], [3, 2, 2]]), size=K(4),
            weights=K([], "f32"), binary_output=binary)
    add("DenseBincount", "weights", input=V([1, 2, 2]), size=K(4), weights=F(3))
    add("RaggedBincount", splits=K([0, 2, 3], "i64"), values=V([1, 0, 2]), size=K(3),
        weights=K([], "f32"))
    add("RaggedBincount", "run", splits=V([0, 2, 2, 6], "i64"), values=V([1, 0, 2, 9, 2, 2]), size=K(3),
        weights=V([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    add("RaggedBincount", "binary", splits=V([0, 2, 2, 6], "i64"), values=V([1, 0, 2, 9, 2, 2], "i64"),
        size=K(3, "i64"), weights=K([], "f32"), binary_output=True)
    for kind in ("f32", "f64", "i32", "i64"):
        add("HistogramFixedWidth", type=kind, values=T(20, low=-3, high=8),
            value_range=V([0, 5], "", constant=True), nbins=K(5))
        add("Bucketize", type=kind, input=T(2, 5), boundaries=[-1.0, 0.0, 1.5])
    add("HistogramFixedWidth", "int64", values=F(10), value_range=K([-1.0, 1.0]), nbins=K(4),
        dtype="int64")
    add("Bucketize", "empty", input=F(3), boundaries=[])
    for kind in INTS:
        add("DenseBincount", "more", kind, optional=True, input=T(6, low=0, high=4),
            size=V(5, "", constant=True), weights=K([], "f32"))
    add("Bincount", "at_run_time", arr=I(6, low=0, high=4), size=V(4), weights=F(6))


def cases(add):
    reductions(add)
    segments(add)
    histograms(add)
