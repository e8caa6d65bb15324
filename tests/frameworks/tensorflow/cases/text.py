# SPDX-License-Identifier: Apache-2.0
"""Strings that are computed from constants, tables of constants, and ragged tensors that map_fn
goes through.

AscendCL describes no strings: what TensorFlow makes of the constants stands in the graph as well,
and the model returns where both are equal.
"""
import numpy as np
from specs import F, V

NUMBERS = np.array([1.5, -2.25, 0.0, 1e20, 123456.789, np.inf, -np.inf], np.float32)
FORMS = ({}, {"precision": 3}, {"precision": 0}, {"scientific": True}, {"scientific": True, "precision": 2},
         {"shortest": True}, {"shortest": True, "precision": 3}, {"width": 12}, {"width": 12, "fill": "0"},
         {"width": 12, "fill": "-"}, {"width": 12, "fill": "+"}, {"precision": 1, "width": 9, "fill": " "})


def tensorflow():
    import tensorflow as tf
    return tf


def texts(name, add, op, values, **options):
    """The operator on constants, compared with its result on the same."""
    def build(make):
        tf = tensorflow()
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            expected = session.run(getattr(tf.raw_ops, op)(input=tf.constant(values), **options))
        made = getattr(tf.raw_ops, op)(input=tf.constant(values), **options)
        x = make("x", F(*np.shape(values)))
        return [tf.where(tf.equal(made, tf.constant(expected)), x, tf.zeros_like(x))]
    add.graph(name, [op], build)


def to_number(add, name, values, kind):
    def build(make):
        tf = tensorflow()
        x = make("x", F(len(values)))
        return [tf.cast(x, kind) + tf.raw_ops.StringToNumber(string_tensor=values, out_type=kind)]
    add.graph(f"StringToNumber.{name}", ["StringToNumber"], build)


def strings(add):
    for i, form in enumerate(FORMS):
        texts(f"AsString.floats{i}", add, "AsString", NUMBERS, **form)
    for kind in ("float64", "float16", "int8", "int32", "int64", "uint8", "bool", "complex64"):
        values = np.array([[0, 1, 7], [100, 3, 1]]).astype(kind)
        texts(f"AsString.{kind}", add, "AsString", values)
    for fill in ("", "0", "-", "+"):
        texts(f"AsString.width{fill}", add, "AsString", np.int32([-12, 0, 2147483647]), width=6, fill=fill)
    texts("AsString.strings", add, "AsString", np.array(["a", "", "long enough"]), width=4)
    words = np.array([["TensorFlow", "ÄÖß é"], ["", "Ωμέγα 123"]])
    for op in ("StringLower", "StringUpper"):
        texts(f"{op}.ascii", add, op, words)
    texts("StringLower.unicode", add, "StringLower", words, encoding="utf-8")
    texts("StringUpper.unicode", add, "StringUpper", np.array(["äöé", "ωμέγα x"]), encoding="utf-8")
    for kind in ("float32", "float64"):
        to_number(add, kind, ["1.5", " -2e3 ", "inf", "7"], kind)
    for kind in ("int32", "int64"):
        to_number(add, kind, ["12", "-7", "2147483647"], kind)


def lookup(kind, values, default, shape):
    """A table that the graph itself fills, before something is looked up."""
    def build(make):
        tf = tensorflow()
        keys = np.array([7, -3, 100, 0], kind)
        with tf.device("/cpu:0"):
            table = tf.raw_ops.HashTableV2(key_dtype=kind, value_dtype=values.dtype, shared_name="table")
        filled = tf.raw_ops.LookupTableImportV2(table_handle=table, keys=keys, values=values)
        asked = make("x", V(np.reshape([0, 7, 5, 100, -3, 99], shape), kind.replace("int", "i")))
        with tf.control_dependencies([filled]):
            found = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=asked,
                                                 default_value=values.dtype.type(default))
            size = tf.raw_ops.LookupTableSizeV2(table_handle=table)
        return [found, tf.identity(size)]
    return build


def tables(add):
    ops = ["HashTableV2", "LookupTableImportV2", "LookupTableFindV2", "LookupTableSizeV2"]
    for kind, values, default, shape in (
            ("int64", np.float32([1.5, 2.5, 3.5, 4.5]), -1, (2, 3)),
            ("int64", np.int64([10, 20, 30, 2 ** 40]), -7, (6,)),
            ("int32", np.float32([1.5, 2.5, 3.5, 4.5]), 0, (3, 2))):
        add.graph(f"LookupTableFindV2.{kind}_{values.dtype}", ops, lookup(kind, values, default, shape))


def ragged(values, splits):
    return tensorflow().RaggedTensor.from_row_splits(values, splits, validate=False)


def rows_to_numbers(values, splits):
    tf = tensorflow()
    return tf.map_fn(lambda row: tf.reduce_sum(row * row), ragged(values, splits), fn_output_signature=tf.float32)


def rows_to_sums(values, splits):
    tf = tensorflow()
    return tf.map_fn(lambda row: tf.reduce_sum(row * row, 0), ragged(values, splits),
                     fn_output_signature=tf.TensorSpec([2], tf.float32))


def rows_to_rows(values, splits):
    tf = tensorflow()
    made = tf.map_fn(lambda row: row[::-1] * 2.0, ragged(values, splits),
                     fn_output_signature=tf.RaggedTensorSpec([None, *values.shape[1:]], tf.float32, 0))
    return made.flat_values, made.row_splits


def rows_to_longer_rows(values, splits):
    tf = tensorflow()
    made = tf.map_fn(lambda row: tf.concat([row, row + 1.0], 0), ragged(values, splits),
                     fn_output_signature=tf.RaggedTensorSpec([None], tf.float32, 0))
    return made.flat_values, made.row_lengths()


def two_ragged(values, splits):
    tf = tensorflow()
    rows = ragged(values, splits)
    made = tf.map_fn(lambda pair: pair[0] + pair[1], (rows, rows * 2.0),
                     fn_output_signature=tf.RaggedTensorSpec([None], tf.float32, 0))
    return made.to_tensor()


def numbers_to_rows(x):
    tf = tensorflow()
    made = tf.map_fn(tf.range, x, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32, 0))
    return made.flat_values, made.row_splits


def dense_rows(x):
    tf = tensorflow()
    return tf.map_fn(lambda row: row[::-1], x, fn_output_signature=tf.RaggedTensorSpec([3], tf.float32, 0))


def parts_of_growing_length(x):
    """An array that a loop fills with elements of different lengths."""
    tf = tensorflow()
    array = tf.TensorArray(tf.float32, 4, infer_shape=False, element_shape=[None])
    _, array = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, x[:i] * tf.cast(i, tf.float32))),
                             [tf.constant(0), array])
    return array.concat()


def parts_read_again(x):
    tf = tensorflow()
    array = tf.TensorArray(tf.float32, 3, infer_shape=False, element_shape=[None, 2], clear_after_read=False)
    _, array = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[i:])), [tf.constant(0), array])
    _, total = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + tf.reduce_sum(array.read(i), 0)),
                             [tf.constant(0), tf.zeros([2])])
    return total


def parts_of_one_length(x, n):
    """What dynamic_rnn does with a batch that comes at run time."""
    tf = tensorflow()
    array = tf.TensorArray(tf.float32, 3, element_shape=[None, 2])
    _, array = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[:n] + tf.cast(i, tf.float32))),
                             [tf.constant(0), array])
    return array.stack()


def uneven_lists(add):
    both = ["RaggedTensorToVariant", "RaggedTensorFromVariant"]
    splits = V([0, 2, 2, 5], "i64")
    flat, wide = {"values": F(5), "splits": splits}, {"values": F(5, 2), "splits": splits}
    for function, inputs in ((rows_to_numbers, flat), (rows_to_sums, wide), (rows_to_rows, flat), (rows_to_rows, wide),
                             (rows_to_longer_rows, flat), (two_ragged, flat),
                             (numbers_to_rows, {"x": V([2, 0, 3])}), (dense_rows, {"x": F(2, 3)})):
        add.frozen(f"RaggedTensorToVariant.{function.__name__}", both, function, inputs)
    add.frozen("RaggedTensorToVariant.no_rows", both, rows_to_rows, {"values": F(0), "splits": V([0, 0], "i64")})
    for lower in (False, True):
        kind = "lowered" if lower else "kept"
        for function, inputs in ((parts_of_growing_length, {"x": F(5)}), (parts_read_again, {"x": F(3, 2)}),
                                 (parts_of_one_length, {"x": F(4, 2), "n": V(3)})):
            add.frozen(f"While.{function.__name__}_{kind}", ["TensorListSetItem", "TensorListReserve"], function,
                       inputs, lower)


def cases(add):
    strings(add)
    tables(add)
    uneven_lists(add)
