# SPDX-License-Identifier: Apache-2.0
"""Gathering, scattering, sorting, searching, sets."""
import numpy as np
from specs import ALL, INTS, NUMBERS, REAL, B, D, F, I, K, T, V


def gather(add):
    add.types("Gather", ALL, params=T(4, 3), indices=V([2, 0, 3]))
    add("Gather", "matrix", params=F(4), indices=V([[0, 1], [3, 2]], "i64"))
    add("Gather", "scalar", params=F(4, 3), indices=V(2))
    add.types("GatherV2", ALL, params=T(4, 3), indices=V([2, 0, 3]), axis=K(0))
    for label, axis, batch, indices in (
            ("last", -1, 0, [1, 0, 1, 1]), ("middle", 1, 0, [[1, 0], [1, 1]]), ("scalar", 1, 0, 1),
            ("batch", 1, 1, [[1, 0], [0, 2]]), ("batch_beyond", 2, 1, [[1, 0], [0, 1]]),
            ("batch_negative", -1, -1, [[1, 0], [0, 1]]), ("empty", 0, 0, [])):
        add("GatherV2", label, params=F(2, 3, 4), indices=V(indices, "i32"), axis=K(axis),
            batch_dims=batch)
    add("GatherV2", "int64", params=F(4, 3), indices=V([2, 0], "i64"), axis=K(0, "i64"))
    add("GatherV2", "constant", params=F(4, 3), indices=K([2, 0]), axis=K(1))
    add("GatherV2", "open", params=F(4, 3, left_open="dims"), indices=V([2, 0]), axis=K(0))
    add("GatherV2", "weights", params=K([[1.0, 2.0], [3.0, 4.0]]), indices=V([[1], [0]]), axis=K(0))
    add("GatherV2", "axis_at_run_time", params=F(4, 3), indices=V([1, 0]), axis=V(1))
    add.types("GatherNd", ALL, params=T(3, 4), indices=V([[0, 1], [2, 3]]))
    for label, indices in (("rows", [[2], [0]]), ("matrix", [[[0, 1]], [[1, 0]]]), ("vector", [1, 2]),
                           ("int64", None), ("empty", [[], []])):
        kind = "i64" if indices is None else "i32"
        add("GatherNd", label, params=F(3, 4), indices=V([[1, 1]] if indices is None else indices, kind))
    add("GatherNd", "deep", params=F(2, 3, 4), indices=V([[0, 1], [1, 2]]))


def scatter(add):
    add.types("ScatterNd", ALL, indices=V([[1], [3]]), updates=T(2, 2), shape=K([5, 2]))
    add("ScatterNd", "elements", indices=V([[0, 1], [2, 0], [0, 1]]), updates=F(3), shape=K([3, 2]))
    add("ScatterNd", "int64", indices=V([[1]], "i64"), updates=F(1, 2), shape=K([4, 2], "i64"))
    add("ScatterNd", "at_run_time", indices=V([[1], [3]]), updates=F(2), shape=V([5]))
    add("ScatterNd", "matrix", indices=V([[[0], [1]], [[2], [0]]]), updates=F(2, 2, 3), shape=K([4, 3]))
    for op in ("Update", "Add", "Sub", "Max", "Min"):
        name = "TensorScatter" + op
        add.types(name, ALL if op == "Update" else NUMBERS, tensor=T(4, 2), indices=V([[1], [3]]),
                  updates=T(2, 2))
        add(name, "elements", tensor=F(3, 2), indices=V([[0, 1], [2, 0]]), updates=F(2))
        add(name, "int64", tensor=F(4), indices=V([[2], [0]], "i64"), updates=F(2))
        if op != "Update":
            add(name, "twice", tensor=F(3), indices=V([[1], [1], [0]]), updates=F(3))
    add("ScatterNdNonAliasingAdd", input=F(4, 2), indices=V([[1], [3]]), updates=F(2, 2))
    add("ScatterNdNonAliasingAdd", "twice", input=F(4), indices=V([[1], [1]]), updates=F(2))
    for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
        add(op, x=F(4, 2), i=V([2, 0]), v=F(2, 2))
        add(op, "int", x=I(4, 2), i=V([1]), v=I(1, 2))
    add("SparseToDense", sparse_indices=V([[0, 1], [2, 0]]), output_shape=K([3, 2]),
        sparse_values=V([5.0, 6.0]), default_value=K(-1.0))
    add("SparseToDense", "vector", sparse_indices=V([1, 3]), output_shape=K([5]),
        sparse_values=V(7, "i32"), default_value=K(0))
    add("SparseToDense", "scalar", sparse_indices=V(2), output_shape=K([5]), sparse_values=V(7.0),
        default_value=K(0.0))
    add.types("SparseToDense", ALL, "types", sparse_indices=V([1, 3], "i64"), output_shape=K([5], "i64"),
              sparse_values=T(2), default_value=V(0, "", constant=True))
    add("DynamicPartition", data=F(5, 2), partitions=V([0, 1, 1, 2, 0]), num_partitions=3)
    add("DynamicPartition", "matrix", data=F(2, 3), partitions=V([[0, 1, 1], [2, 0, 0]]), num_partitions=3)
    add("DynamicPartition", "empty", data=I(3), partitions=V([0, 0, 0]), num_partitions=2)
    for op in ("DynamicStitch", "ParallelDynamicStitch"):
        add(op, indices=[V([0, 2]), V([1, 3])], data=[F(2, 3), F(2, 3)])
        add(op, "shapes", indices=[V(3), V([[0, 1], [2, 4]])], data=[F(2), F(2, 2, 2)])
        add(op, "constant", indices=[K([0, 2]), K([1])], data=[I(2), I(1)])
    add("DynamicStitch", "twice", indices=[V([0, 1]), V([1])], data=[F(2), F(1)])


def order(add):
    add.types("TopKV2", REAL, input=T(3, 6), k=K(2))
    add("TopKV2", "ties", input=V([[1.0, 3.0, 3.0, 2.0, 3.0]]), k=K(4))
    add("TopKV2", "vector", input=F(7), k=K(1))
    add("TopKV2", "int64", input=F(2, 5), k=K(2), index_type="int64")
    add("TopKV2", "at_run_time", input=F(2, 5), k=V(2))
    add("TopKV2", "zero", input=F(2, 5), k=K(0))
    for op, k in (("InTopK", 2), ("InTopKV2", K(2))):
        add(op, predictions=F(3, 4), targets=V([1, 0, 3]), k=k)
        add(op, "int64", predictions=F(3, 4), targets=V([1, 0, 3], "i64"),
            k=k if op == "InTopK" else K(2, "i64"))
    add.types("NthElement", REAL, input=T(3, 5), n=K(1))
    add("NthElement", "reverse", input=F(2, 5), n=K(1), reverse=True)
    for op in ("LowerBound", "UpperBound"):
        for kind in ("f32", "i32", "i64", "f64"):
            add(op, type=kind, sorted_inputs=V([[1, 2, 2, 4], [0, 3, 3, 5]], ""),
                values=V([[0, 2, 9], [3, 3, 4]], ""))
        add(op, "int64", sorted_inputs=V([[1.0, 2.0]]), values=V([[2.0]]), out_type="int64")
    for kind in ("i32", "i64"):
        add("InvertPermutation", type=kind, x=V([2, 0, 1, 3], ""))
    add.types("Where", ALL, condition=T(3, 4, low=0, high=2))
    add("Where", "none", condition=V([False, False]))
    add("Where", "cube", condition=B(2, 2, 3))
    for op in ("Unique", "UniqueWithCounts"):
        add.types(op, (*REAL, "bool"), x=T(8, low=0, high=4) if op == "Unique" else
                  T(8, low=0, high=3))
        add(op, "int64", x=V([3, 1, 3, 2]), out_idx="int64")
        add(op, "empty", x=F(0))
        add(op + "V2", x=V([3, 1, 3, 2]), axis=K([0]))
        add(op + "V2", "rows", x=V([[1, 2], [3, 4], [1, 2]]), axis=K([0]))
        add(op + "V2", "columns", x=V([[1, 2, 1], [3, 4, 3]]), axis=K([1]))
        add(op + "V2", "none", x=V([3.0, 1.0, 3.0]), axis=K([], "i32"))
    add.types("ListDiff", REAL, x=V([1, 2, 3, 4, 5, 2], ""), y=V([2, 5], ""))
    add("ListDiff", "int64", x=V([1, 2, 3]), y=V([2]), out_idx="int64")
    for kind in ("a-b", "intersection", "union"):
        for types in INTS:
            add("DenseToDenseSetOperation", kind, types, optional=True,
                set1=V([[1, 2, 3], [4, 5, 5]], ""), set2=V([[2, 3], [5, 1]], ""), set_operation=kind)
    add("SetSize", set_indices=V([[0, 0], [0, 1], [1, 0]], "i64"), set_values=V([1, 2, 3]),
        set_shape=K([2, 2], "i64"))
    add("SetSize", "groups", set_indices=V([[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 1, 2], [1, 0, 0]], "i64"),
        set_values=V([4, 7, 7, 2, 4], "i64"), set_shape=K([2, 2, 3], "i64"))
    add("EditDistance", hypothesis_indices=K([[0, 0], [0, 1], [1, 0]], "i64"),
        hypothesis_values=V([1, 2, 3]), hypothesis_shape=K([2, 2], "i64"),
        truth_indices=K([[0, 0], [1, 0], [1, 1]], "i64"), truth_values=V([1, 3, 4]),
        truth_shape=K([2, 2], "i64"))


def sparse(add):
    spots, shape = [[0, 1], [1, 0], [2, 2]], [3, 4]
    add("SparseReshape", input_indices=V(spots, "i64"), input_shape=V(shape, "i64"),
        new_shape=K([2, -1], "i64"))
    add("SparseReshape", "constant", input_indices=V(spots, "i64"), input_shape=K(shape, "i64"),
        new_shape=K([12], "i64"))
    add("SparseFillEmptyRows", indices=V([[0, 1], [2, 0]], "i64"), values=F(2),
        dense_shape=K([4, 3], "i64"), default_value=K(0.5))
    add("SparseFillEmptyRows", "full", indices=V([[0, 1], [1, 0]], "i64"), values=V([1, 2], "i64"),
        dense_shape=K([2, 3], "i64"), default_value=K(7, "i64"))
    add("SparseFillEmptyRows", "unordered", indices=V([[3, 1], [0, 2], [3, 0]], "i64"), values=F(3),
        dense_shape=V([5, 3], "i64"), default_value=V(-1.0))
    add("SparseFillEmptyRows", "none", indices=V(np.zeros((0, 2)), "i64"), values=F(0),
        dense_shape=K([2, 3], "i64"), default_value=K(1.0))
    for label, flags in (("plain", {}), ("adjoint_a", {"adjoint_a": True}),
                         ("adjoint_b", {"adjoint_b": True})):
        b = {"plain": (4, 2), "adjoint_a": (3, 2), "adjoint_b": (2, 4)}[label]
        add("SparseTensorDenseMatMul", label, a_indices=V(spots, "i64"), a_values=F(3),
            a_shape=K(shape, "i64"), b=F(*b), **flags)
    add("SparseTensorDenseAdd", a_indices=V(spots, "i64"), a_values=F(3), a_shape=K(shape, "i64"),
        b=F(3, 4))
    for op in ("Add", "Mul", "Div"):
        if op != "Add":
            add("SparseDenseCwise" + op, sp_indices=V(spots, "i64"), sp_values=F(3),
                sp_shape=K(shape, "i64"), dense=F(3, 4, low=1))
    for op in ("SparseReduceSum", "SparseReduceMax"):
        add(op, input_indices=V(spots, "i64"), input_values=F(3), input_shape=K(shape, "i64"),
            reduction_axes=K([1]))
    add("SparseSoftmax", sp_indices=V([[0, 1], [0, 2], [1, 0]], "i64"), sp_values=F(3),
        sp_shape=K(shape, "i64"))
    add("SparseReorder", input_indices=V([[2, 2], [0, 1], [1, 0]], "i64"), input_values=F(3),
        input_shape=K(shape, "i64"))
    add("SparseConcat", indices=[V(spots, "i64"), V(spots, "i64")], values=[F(3), F(3)],
        shapes=[K(shape, "i64"), K(shape, "i64")], concat_dim=1)
    add("SparseSlice", indices=V(spots, "i64"), values=F(3), shape=K(shape, "i64"),
        start=K([0, 0], "i64"), size=K([2, 2], "i64"))
    add("SparseSplit", split_dim=K(1, "i64"), indices=V(spots, "i64"), values=F(3),
        shape=K(shape, "i64"), num_split=2)
    add("SparseReorder", "run", input_indices=V([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 0, 1]], "i64"),
        input_values=V([1, 2, 3, 4], "i64"), input_shape=V([2, 2, 2], "i64"))
    add("SparseConcat", "rows", indices=[V(spots, "i64"), V([[0, 0]], "i64")], values=[F(3), F(1)],
        shapes=[V(shape, "i64"), V([2, 4], "i64")], concat_dim=-2)
    add("SparseSlice", "run", indices=V(spots, "i64"), values=F(3), shape=V(shape, "i64"),
        start=V([1, 0], "i64"), size=V([5, 3], "i64"))
    add("SparseSplit", "uneven", split_dim=K(0, "i64"), indices=V(spots, "i64"), values=F(3),
        shape=V(shape, "i64"), num_split=2)
    add("SparseSoftmax", "cube", sp_indices=V([[0, 0, 1], [0, 0, 2], [1, 2, 0], [1, 2, 3]], "i64"),
        sp_values=D(4), sp_shape=V([2, 3, 4], "i64"))
    add("SparseReduceMax", "keep", input_indices=V([[0, 1], [0, 2], [2, 2]], "i64"),
        input_values=V([-3, -1, -5]), input_shape=K([3, 4], "i64"), reduction_axes=K([-1]), keep_dims=True)
    add("SparseReshape", "run", input_indices=V([[0, 0, 1], [1, 2, 3]], "i64"),
        input_shape=V([2, 3, 4], "i64"), new_shape=V([6, -1], "i64"))
    outer, inner = V([0, 1, 1, 3], "i64"), V([0, 2, 2, 5])
    add("RaggedGather", "nested", params_nested_splits=[V([0, 1, 1, 3]), inner], params_dense_values=F(5, 2),
        indices=V([2, 1, 0, 2], "i64"), OUTPUT_RAGGED_RANK=2)
    add("RaggedGather", "matrix", params_nested_splits=[inner], params_dense_values=F(5),
        indices=V([[2, 1], [0, 2]]), OUTPUT_RAGGED_RANK=2)
    add("RaggedTensorToSparse", "nested", rt_nested_splits=[outer, V([0, 2, 2, 5], "i64")],
        rt_dense_values=F(5))
    add("RaggedTensorToSparse", "rows", rt_nested_splits=[inner], rt_dense_values=F(5, 2))
    add("RaggedTensorToTensor", "nested", shape=K([-1, 2, 2], "i64"), values=F(5), default_value=K(9.0),
        row_partition_tensors=[outer, V([0, 2, 2, 5], "i64")], row_partition_types=["ROW_SPLITS"] * 2)
    add("RaggedTensorToTensor", "row_ids", shape=V([-1, 3, 2], "i64"), values=F(5, 2), default_value=V([1.0, 2.0]),
        row_partition_tensors=[V(4, "i64"), V([0, 0, 1, 3, 3], "i64")],
        row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"])
    add("RaggedTensorToTensor", "any_shape", shape=K(-1, "i64"), values=I(5), default_value=K(0),
        row_partition_tensors=[V([0, 3, 5, 5], "i64")], row_partition_types=["ROW_SPLITS"])
    for kind in ("i32", "f32", "i64", "f64"):
        add("RaggedRange", type=kind, starts=V([0, 5, 8], ""), limits=V([3, 5, 12], ""),
            deltas=V(1, "", constant=True))
    add("RaggedRange", "each", starts=V([0, 5]), limits=V([6, 0]), deltas=V([2, -1]))
    add("RaggedGather", params_nested_splits=[V([0, 2, 2, 5], "i64")], params_dense_values=F(5),
        indices=V([2, 0]), OUTPUT_RAGGED_RANK=1)
    add("RaggedTensorToSparse", rt_nested_splits=[V([0, 2, 2, 5], "i64")], rt_dense_values=F(5))
    add("RaggedTensorToTensor", shape=K([3, 4], "i64"), values=F(5), default_value=K(0.0),
        row_partition_tensors=[V([0, 2, 2, 5], "i64")], row_partition_types=["ROW_SPLITS"])
    add("RaggedTensorToTensor", "open", shape=K([-1, -1], "i64"), values=F(5), default_value=K(-1.0),
        row_partition_tensors=[V([0, 2, 2, 5], "i64")], row_partition_types=["ROW_SPLITS"])


def cases(add):
    gather(add)
    scatter(add)
    order(add)
    sparse(add)
