# SPDX-License-Identifier: Apache-2.0
"""Strings inside of models: constants, and what operators make of them, worked out by atc. Results
are those of the onnx package's reference implementation; for patterns, of Python's re."""
import re

import numpy as np
import onnx
import pytest
from flow_models import constant, info, model
from model_datasets import atc, convert
from om_runner import run_om
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

WORDS = ["monday", "Über-Größe", "", "tuesday", "Monday"]
NUMBERS = [0.0, -0.0, 1.5, 1e-5, 1e-4, 123456.789, 1e10, 1e15, 3e16, -2.5e-7, np.inf,
           -np.inf, np.nan]
SPLIT = [["a,b,,c", ",x,"], ["", "y"]]
SPACES = ["  a b\tc  d ", "", " \n", "e\u3000f"]
REAL = [" 1.5", "-2e3 ", "+7", "1e-5", "INF", "-inf", "nan"]


def node(op, *inputs, outputs=1, **attributes):
    return op, inputs, outputs, attributes


# Operators on constants: arrays and lists of words are inputs, None is one left out.
CASES = {
    "concat": node("StringConcat", [["a"], ["ß"]], ["x", "", "yz"]),
    "concat scalar": node("StringConcat", "a", "b"),
    "split": node("StringSplit", SPLIT, outputs=2, delimiter=","),
    "split once": node("StringSplit", SPLIT, outputs=2, delimiter=",", maxsplit=1),
    "split at spaces": node("StringSplit", SPACES, outputs=2),
    "split at spaces twice": node("StringSplit", SPACES, outputs=2, maxsplit=2),
    "normalize": node("StringNormalizer", ["monday", "Tuesday", "wednesday"],
                      case_change_action="UPPER", is_case_sensitive=1, stopwords=["monday"]),
    "normalize any case": node("StringNormalizer", [["Monday", "tuesday"]],
                               case_change_action="LOWER", stopwords=["monday"]),
    "normalize all": node("StringNormalizer", ["monday", "monday"], is_case_sensitive=1,
                          stopwords=["monday"]),
    "write float32": node("Cast", np.array(NUMBERS, np.float32), to=TensorProto.STRING),
    "write float64": node("Cast", np.array(NUMBERS), to=TensorProto.STRING),
    "write float16": node("Cast", np.array([0.1, 65504, 6e-8, 1 / 3], np.float16),
                          to=TensorProto.STRING),
    "write int8": node("Cast", np.array([-128, 0, 7], np.int8), to=TensorProto.STRING),
    "write uint64": node("Cast", np.array([2**64 - 1], np.uint64), to=TensorProto.STRING),
    "write bool": node("Cast", np.array([True, False]), to=TensorProto.STRING),
    "read float32": node("Cast", REAL, to=TensorProto.FLOAT),
    "read float16": node("CastLike", REAL, np.float16([1])),
    "read float64": node("Cast", ["0.1", "1e300"], to=TensorProto.DOUBLE),
    "read int32": node("Cast", ["-5", " 2147483647"], to=TensorProto.INT32),
    "equal": node("Equal", WORDS, [["monday"], [""]]),
    "gather": node("Gather", WORDS, np.array([[3, 0], [-1, 2]])),
    "where": node("Where", np.array([[True], [False]]), WORDS, "no"),
    "pad": node("Pad", ["a", "b"], np.array([1, 2])),
    "pad with": node("Pad", ["a", "b"], np.array([1, 0]), "z"),
    "tile": node("Tile", [["a", "b"]], np.array([2, 2])),
    "transpose": node("Transpose", [["a", "b", "c"], ["d", "e", "f"]], perm=[1, 0]),
    "join": node("Concat", WORDS, ["x"], axis=0),
    "slice": node("Slice", WORDS, np.array([4]), np.array([0]), np.array([0]), np.array([-2])),
    "unique": node("Unique", ["b", "é", "a", "b", "z"], outputs=4),
    "scatter": node("ScatterElements", WORDS, np.array([1, 3]), ["new", "old"]),
    "resize": node("Resize", [["a", "b"]], None, np.float32([2, 2])),
    "resize part": node("Resize", ["a", "b"], np.float32([0, 2]), None, np.array([5]),
                        coordinate_transformation_mode="tf_crop_and_resize"),
    "sample": node("GridSample", [[[["a", "b"], ["c", "d"]]]],
                   np.float32([[[[-0.5, 0.5], [0.5, 0.5], [3, 0]]]]), mode="nearest"),
    "shape": node("Shape", [["a", "b"]]),
    "reshape": node("Reshape", WORDS, np.array([5, 1])),
    "terms": node("TfIdfVectorizer", [["a", "b", "a", "c"], ["b", "b", "a", "x"]], mode="TF",
                  max_gram_length=2, max_skip_count=0, min_gram_length=1, ngram_counts=[0, 3],
                  ngram_indexes=[0, 1, 2, 3, 4], pool_strings=["a", "b", "c", "a", "b", "b", "a"]),
}

pytestmark = pytest.mark.usefixtures("runtime")


def tensor(name, value):
    array = np.asarray(value)
    return constant(name, array.astype(object) if array.dtype.kind == "U" else array)


def parts(name, case):
    """(node, its constants) of a case."""
    op, inputs, outputs, attributes = case
    weights = {i: tensor(f"{name} in {i}", value) for i, value in enumerate(inputs)
               if value is not None}
    made = helper.make_node(op, [weights[i].name if i in weights else ""
                                 for i in range(len(inputs))],
                            [f"{name} {i}" for i in range(outputs)], name=name, **attributes)
    return made, list(weights.values())


# What the reference cannot do with strings: the elements that it would pick from numbers.
PICKED = {
    "resize": [["a", "a", "b", "b"], ["a", "a", "b", "b"]],
    "resize part": ["a", "a", "b", "", ""],
    "sample": [[[["c", "d", ""]]]],
}


@np.vectorize(otypes=[object])
def words(element):
    """The reference pads with the number 0 where the definition says: an empty string."""
    return "" if element == 0 else str(element)


def reference(name, case):
    if name in PICKED:
        return [np.array(PICKED[name], object)]
    made, weights = parts(name, case)
    outputs = [helper.make_empty_tensor_value_info(o) for o in made.output]
    return ReferenceEvaluator(model([made], [], outputs, weights, opset=21)).run(None, {})


def with_number(nodes, weights, outputs, opset=21):
    """AscendCL's models have an input: one that is handed through."""
    nodes = [*nodes, helper.make_node("Identity", ["x"], ["y"])]
    return model(nodes, [info("x", TensorProto.FLOAT, [1])],
                 [info("y", TensorProto.FLOAT, [1]), *outputs], weights, opset=opset)


def test_operators_on_strings_give_what_the_reference_gives(tmp_path):
    nodes, weights, outputs, wanted = [], [], [], {}

    def see(name, kind, value):
        outputs.append(info(name, kind, value.shape))
        wanted[name] = value

    for name, case in CASES.items():
        made, constants = parts(name, case)
        nodes.append(made)
        weights += constants
        for output, value in zip(made.output, reference(name, case)):
            value = np.asarray(value)
            if value.dtype.kind not in "OU":
                see(output, helper.np_dtype_to_tensor_dtype(value.dtype), value)
                continue
            # Strings cannot leave a model: but their shape, and whether all are as they should.
            value = words(value)
            weights.append(tensor(output + " wanted", value))
            nodes += [
                helper.make_node("Equal", [output, output + " wanted"], [output + " same"]),
                helper.make_node("Shape", [output], [output + " shape"])]
            see(output + " same", TensorProto.BOOL, np.ones(value.shape, bool))
            see(output + " shape", TensorProto.INT64, np.array(value.shape, np.int64))
    om = convert(tmp_path, "strings", with_number(nodes, weights, outputs))
    got = {name.split(":")[-1]: array for name, array in run_om(om, [np.float32([3])]).items()}
    assert got["y"] == [3]
    for name, value in wanted.items():
        np.testing.assert_array_equal(got[name].reshape(value.shape), value, err_msg=name)


PATTERNS = {
    r"www.[\w.-]+\.\bcom\b": ["www.google.com", "www.facebook.com", "www.bbc.co.uk"],
    r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)": [
        "account@gmail.com", "not email", "x@hotmail.com"],
    r"a*|b+c?": ["", "aaa", "bbc", "abc", "b", "c"],
    r"(?i)straße[^x-z]{2,3}": ["STRAßEab", "strasseab", "Straßeabc", "straßeabx"],
    r"(?:ab){2}(?P<tail>\d|[[:upper:]])?": ["abab", "abab7", "ababX", "ababab", "ab"],
    r"(?s).x.": ["\nx\n", "äx€", "xx"], r".": ["\n", "é", "ab", ""],
    r"\x41\x{1F600}\Q.*\E": ["A😀.*", "A😀xx"], r"\d+\.\d*$": ["12.", "3.14", ".5"],
    r"": ["", "a"], r"[]a]+": ["]a", "b"], r"x{,2}|a{2": ["x{,2}", "a{2", "aa", "xx"],
}


def test_patterns_match_whole_strings(tmp_path):
    nodes, weights, outputs, wanted = [], [], [], {}
    for i, (pattern, texts) in enumerate(PATTERNS.items()):
        made, constants = parts(f"match {i}", node("RegexFullMatch", texts, pattern=pattern))
        nodes.append(made)
        weights += constants
        name = made.output[0]
        outputs.append(info(name, TensorProto.BOOL, [len(texts)]))
        plain = (pattern.replace("[[:upper:]]", "[A-Z]").replace(r"\x{1F600}", "😀")
                 .replace(r"\Q.*\E", r"\.\*").replace("x{,2}", r"x\{,2\}"))
        wanted[name] = [re.fullmatch(plain, text) is not None for text in texts]
    om = convert(tmp_path, "patterns", with_number(nodes, weights, outputs))
    got = {name.split(":")[-1]: array for name, array in run_om(om, [np.float32([0])]).items()}
    assert {name: list(got[name]) for name in wanted} == wanted
    assert any(any(row) for row in wanted.values()) and not all(all(row) for row in wanted.values())


def test_strings_decide_in_a_model_of_open_shapes(tmp_path):
    """A table of names in the model picks the row of a matrix; the batch is known in the run."""
    nodes = [helper.make_node("Equal", ["names", "name"], ["is"]),
             helper.make_node("Cast", ["is"], ["one"], to=TensorProto.FLOAT),
             helper.make_node("MatMul", ["one", "rows"], ["row"]),
             helper.make_node("Add", ["x", "row"], ["y"])]
    weights = [tensor("names", ["cat", "dog", "owl"]), tensor("name", "dog"),
               constant("rows", np.float32([[1, 2], [3, 4], [5, 6]]))]
    made = model(nodes, [info("x", TensorProto.FLOAT, ["n", 2])],
                 [info("y", TensorProto.FLOAT, ["n", 2])], weights)
    om = convert(tmp_path, "table", made, "--input_shape=x:-1,2", "--dynamic_batch_size=1,2")
    assert b"owl" not in open(om, "rb").read(), "no string is left for the run"
    fixed = convert(tmp_path, "fixed", made, "--input_shape=x:1,2")
    np.testing.assert_array_equal(list(run_om(fixed, [np.float32([[10, 20]])]).values())[0],
                                  [[13, 24]])


def refused(folder, made):
    onnx.save(made, folder / "bad.onnx")
    done = atc(f"--model={folder}/bad.onnx", "--framework=5", f"--output={folder}/bad",
               "--soc_version=Ascend310P3")
    assert done.returncode != 0
    assert not (folder / "bad.om").exists()
    return done.stdout + done.stderr


@pytest.mark.parametrize("case, words", [
    (node("Cast", ["1.5"], to=TensorProto.INT32), "the string '1.5' is no int32"),
    (node("Cast", ["true"], to=TensorProto.BOOL), "strings cannot become bool"),
    (node("Resize", ["a"], None, np.float32([2]), mode="linear"), "cannot compute with strings"),
    (node("Resize", ["a"], None, np.float32([2]), extrapolation_value=1.0),
     "cannot compute with strings"),
    (node("GridSample", [[[["a"]]]], np.zeros((1, 1, 1, 2), np.float32)),
     "cannot compute with strings"),
    (node("RegexFullMatch", ["a"], pattern="(a"), "a group has no ')'"),
    (node("RegexFullMatch", ["a"], pattern=r"(a)\1"), "groups cannot be referred to"),
    (node("RegexFullMatch", ["a"], pattern="((((a{99}){99}){99}){99})"), "more than 65536 steps"),
    (node("RegexFullMatch", ["a"], pattern="(" * 5000), "too deep"),
    (node("StringNormalizer", ["a"], locale="xx_YY"), "no locale 'xx_YY'"),
    (node("StringNormalizer", [["a"], ["b"]]), "expected C or 1, C"),
    (node("Tile", ["a" * 1000], np.array([10**6])), "expected at most"),
    (node("Expand", ["a"], np.array([10**9, 10**6])), "expected at most"),
])
def test_what_cannot_be_done_with_strings_is_said(tmp_path, case, words):
    made, weights = parts("bad", case)
    nodes = [made, helper.make_node("Size", [made.output[0]], ["size"])]
    assert words in refused(tmp_path, with_number(nodes, weights,
                                                  [info("size", TensorProto.INT64, [])]))


def test_strings_of_a_run_are_refused(tmp_path):
    number = info("y", TensorProto.INT64, [])
    word = info("x", TensorProto.STRING, [1])
    size = helper.make_node("Size", ["x"], ["y"])
    assert "input 'x' is a tensor of strings" in refused(tmp_path, model([size], [word], [number]))
    write = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.STRING)
    out = info("y", TensorProto.STRING, [1])
    float_in = info("x", TensorProto.FLOAT, [1])
    assert "output 'y' is a tensor of strings" in refused(
        tmp_path, model([write], [float_in], [out]))
    inner = helper.make_node("Cast", ["x"], ["s"], name="writes", to=TensorProto.STRING)
    assert "known in the run only" in refused(
        tmp_path, model([inner, helper.make_node("Size", ["s"], ["y"])], [float_in], [number]))
    carried = [helper.make_node("SequenceConstruct", ["w"], ["list"], name="carries"),
               helper.make_node("SequenceLength", ["list"], ["y"])]
    assert "would carry strings" in refused(
        tmp_path, model(carried, [float_in], [number], [tensor("w", ["a"])]))
