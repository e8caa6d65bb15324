# SPDX-License-Identifier: Apache-2.0
"""Builds the cases of specs.py and runs them in TensorFlow."""
import importlib
import os
import pkgutil
import sys
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # plain kernels: the same numbers everywhere
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "python", "tensorflow_cases"))
sys.path.insert(0, HERE)

import cases as case_files  # noqa: E402
import numpy as np  # noqa: E402
import specs  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf_archive  # noqa: E402

PRODUCER = 1087  # version of GraphDefs, the same whichever TensorFlow writes them
DESCRIBED = frozenset(tf_archive.ACL_TYPES.values())


class Refused(Exception):
    """TensorFlow does not build or run the case."""


def families():
    return sorted(module.name for module in pkgutil.iter_modules(case_files.__path__))


def recipes(family):
    add = specs.Recipes()
    importlib.import_module("cases." + family).cases(add)
    return add.list


class Maker:
    """`make(name, Input)`: a placeholder with its numbers, or a constant."""

    def __init__(self, name):
        self.rng = np.random.RandomState(zlib.crc32(name.encode()))
        self.inputs, self.is_open = {}, False

    def __call__(self, name, spec):
        array = spec.array(self.rng)
        if spec.constant:
            return tf.constant(array, name=name)
        shape = {"": array.shape, "dims": [None] * array.ndim, "rank": None}[spec.left_open]
        self.is_open |= bool(spec.left_open)
        tensor = tf.compat.v1.placeholder(array.dtype, shape, name)
        self.inputs[tensor.op.name] = array
        return tensor


def run_graph(graph_def, inputs, names):
    """{name: array} of the outputs."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    with tf.compat.v1.Session(graph=graph) as session:
        # Copies: InplaceSub and its kind write into an array that TensorFlow takes as it lies.
        values = session.run(names, {name + ":0": array.copy() for name, array in inputs.items()})
    return {name: np.asarray(value) for name, value in zip(names, values)}


def built(name, build):
    """(GraphDef, {input: array}, names of the outputs, whether shapes are open)"""
    maker = Maker(name)
    if getattr(build, "outside_graph", False):
        return *build(maker.rng), False
    with tf.Graph().as_default() as graph:
        names = [tensor.name for tensor in build(maker) if tensor.dtype.name in DESCRIBED]
    return graph.as_graph_def(), maker.inputs, names, maker.is_open


def make_case(recipe, family=""):
    """The case with the outputs of TensorFlow."""
    try:
        graph_def, inputs, names, is_open = built(recipe.name, recipe.build)
        graph_def.ClearField("versions")
        graph_def.versions.producer = PRODUCER
        outputs = run_graph(graph_def, inputs, names) if not recipe.reference else None
        if recipe.reference:
            other, others_inputs, others_names, _ = built(recipe.name, recipe.reference)
            outputs = dict(zip(names, run_graph(other, others_inputs, others_names).values()))
    except (tf.errors.OpError, ValueError, TypeError, NotImplementedError, KeyError) as error:
        raise Refused(" ".join(str(error).split())[:300]) from error
    if not outputs:
        raise Refused("no output of a type that AscendCL describes")
    return tf_archive.Case(recipe.name, recipe.ops, graph_def.SerializeToString(deterministic=True),
                        inputs, outputs, is_open, recipe.rtol, family, leaves=recipe.leaves)


def make_family(family, keyword=""):
    """(cases, sentences about those that TensorFlow refuses and should not)"""
    made, problems = [], []
    for recipe in recipes(family):
        if keyword not in recipe.name:
            continue
        try:
            made.append(make_case(recipe, family))
        except Refused as error:
            if not recipe.optional or "keyword argument" in str(error):
                problems.append(f"{recipe.name}: {error}")
    return made, problems
