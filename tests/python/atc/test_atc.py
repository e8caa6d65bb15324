# SPDX-License-Identifier: Apache-2.0
"""atc as users call it: options, closing line, exit code, and what lies on the disk afterwards."""
import contextlib
import os
import pty
import re
import resource
import signal
import subprocess
import sys

import numpy as np
import onnx
import pytest
from build_tree import ROOT
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

SUCCESS = "ATC run success, welcome to the next use."
START = "ATC start working now, please wait for a moment."


def make_model(op="Relu", shape=("N", 3, 8, 8), opset=13, nodes=None, weights=()):
    if nodes is None:
        nodes = [helper.make_node(op, ["x"], ["y"], name="the_node")]
    return network(nodes, [("x", TensorProto.FLOAT, shape)], [("y", TensorProto.FLOAT, None)],
                   weights, opset)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(make_model(), "small.onnx")
    return tmp_path


def atc(*args, **options):
    options = {"stdout": subprocess.PIPE, **options}
    return subprocess.run(["atc", *args], stderr=subprocess.PIPE, text=True, timeout=300, **options)


def convert(*more, model="small.onnx", shape="x:1,3,8,8", **options):
    args = [f"--model={model}", "--framework=5", "--output=out", "--soc_version=Ascend310P3"]
    if shape is not None:
        args.append(f"--input_shape={shape}")
    return atc(*args, *more, **options)


def check_failed(result, *sentences):
    assert result.returncode != 0
    assert SUCCESS not in result.stdout
    for sentence in sentences:
        assert re.search(sentence, result.stderr), result.stderr
    assert not [name for name in os.listdir(".") if ".om" in name], "nothing may be written"


def test_the_guides_command_writes_the_om_and_prints_the_closing_line(folder):
    result = convert()
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == START
    assert lines[-1] == SUCCESS
    assert sorted(os.listdir(".")) == ["out.om", "small.onnx"]
    assert open("out.om", "rb").read(8) == b"ANYNPUOM"


def test_one_dash_a_space_and_quotes_inside_values_work(folder):
    result = atc("-model=small.onnx", "-framework", "5", "--output", "out",
                 '--soc_version="Ascend310P3"', '--input_shape="x:1,3,8,8"')
    assert result.returncode == 0, result.stderr
    assert os.path.exists("out.om")


def test_output_goes_to_a_folder_that_exists(folder):
    os.mkdir("models")
    args = ["--model=small.onnx", "--framework=5", "--soc_version=Ascend310P3",
            "--input_shape=x:1,3,8,8"]
    assert atc(*args, "--output=./models/net").returncode == 0
    assert os.path.exists("models/net.om")
    check_failed(atc(*args, "--output=nowhere/net"), "no folder 'nowhere'")
    check_failed(atc(*args, "--output=models"), "a folder")


def test_a_second_run_replaces_the_file(folder):
    assert convert().returncode == 0
    first = os.stat("out.om").st_ino
    assert convert(shape="x:2,3,8,8").returncode == 0
    assert os.stat("out.om").st_ino != first
    assert sorted(os.listdir(".")) == ["out.om", "small.onnx"]


@pytest.mark.parametrize("missing", ["model", "framework", "output", "soc_version"])
def test_required_options_are_named(folder, missing):
    args = {"model": "small.onnx", "framework": "5", "output": "out", "soc_version": "Ascend310P3",
            "input_shape": "x:1,3,8,8"}
    del args[missing]
    check_failed(atc(*[f"--{k}={v}" for k, v in args.items()]), f"--{missing} is missing")


@pytest.mark.parametrize("option,sentence", [
    ("--no_such_option=1", "unknown option --no_such_option"),
    ("--input_shap=x:1", r"did you mean --input_shape\?"),
    ("--framework=3", "TensorFlow"),
    ("--framework=0", "--weight is missing; a Caffe model has two files"),
    ("--framework=1", "MindSpore"),
    ("--framework=9", "expected 0"),
    ("--soc_version=Ascend999", "Ascend310P3"),
    ("--mode=2", "expected 0, 1, 3, 5 or 6"),
    ("--mode=30", "a program for the card itself"),
    ("--op_debug_level=9", "--op_debug_level is '9'; expected one of 0|1|2|3|4"),
    ("--enable_small_channel=yes", "expected one of 0|1"),
    ("--host_env_cpu=sparc", "expected one of x86_64|aarch64"),
    ("--aicore_num=many", "--aicore_num is 'many'; expected a number"),
    ("--debug_dir=", "expected a path"),
    ("--external_weight=3", "expected 0, 1 or 2"),
    ("--save_original_model=1", "expected true or false"),
    ("--display_model_info=2", "expected 0 or 1"),
    ("--is_weight_clip=2", "expected 0 or 1"),
    ("--dump_mode=2", "expected 0 or 1"),
    ("--op_name_map=map.txt", "for Caffe models"),
    ("--customize_dtypes=missing.cfg", "cannot open 'missing.cfg'"),
    ("--dynamic_dims=1;2", "--input_format=ND"),
    ("--op_attrs=a:b", "set them in the model"),
    ("--log=loud", "expected debug, info"),
    ("--input_format=NHCW", "expected NCHW"),
    ("--input_shape=z:1,3,8,8", "no input 'z'; its inputs are: x"),
    ("--input_shape=x:1,3,8", "rank"),
    ("--input_shape=x:1,4,8,8", "1x4x8x8"),
    ("--input_shape=x:a", "'a'"),
    ("--dynamic_batch_size=1,2", "needs an extent of -1"),
    ("--insert_op_conf=aipp.cfg", "cannot open .aipp.cfg"),
    ("--output_type=the_node:0:FP16", "needs --out_nodes"),
    ("--output_type=FP33", "expected one of FP32"),
    ("--precision_mode=nonsense", "expected one of must_keep_origin_dtype"),
    ("--precision_mode_v2=mixed_hif8", "no chip that --soc_version names computes in HIF8"),
    ("--out_nodes=nothing:0", "'nothing:0' names nothing in the model"),
    ("--out_nodes=the_node:1", "node 'the_node' .Relu. has 1 outputs"),
    ("--out_nodes=x", "'x' is an input of the model"),
    ("--out_nodes=;", "expected \"node1:0;node2:1\""),
    ("--out_nodes=y;y", "'y' is there twice"),
    ("--input_fp16_nodes=z", "no input 'z'; its inputs are: x"),
    ("--is_input_adjust_hw_layout=true", "needs --input_fp16_nodes"),
    ("--is_output_adjust_hw_layout=true", "needs --out_nodes"),
    ("--modify_mixlist=list.json", "needs a mixed precision mode"),
    ("--keep_dtype=missing.cfg", "cannot open 'missing.cfg'"),
    ("--fusion_switch_file=missing.cfg", "cannot open 'missing.cfg'"),
    ("--status_check=2", "expected 0 or 1"),
    ("--compression_optimize_conf=c.cfg", "quantise the model with its own tools first"),
    ("--weight=x.caffemodel", "holds its weights itself"),
    ("--model=missing.onnx", "cannot open 'missing.onnx'"),
    ("--model=.", "not a regular file"),
    ("stray", "not an option"),
])
def test_mistakes_fail_with_a_sentence(folder, option, sentence):
    check_failed(convert(option), sentence)


@pytest.mark.parametrize("option", [
    "--precision_mode=must_keep_origin_dtype", "--precision_mode_v2=origin", "--input_format=ND",
    "--op_select_implmode=high_performance", "--buffer_optimize=off_optimize", "--log=error",
    "--mode=0", "--enable_small_channel=1", "--output_type=FP32", "--input_format=NHWC",
    "--status_check=1", "--precision_mode=force_fp16",
])
def test_options_that_are_accepted(folder, option):
    result = convert(option)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("option, sentence", [
    ("--model=small.onnx", "--singleop and --model exclude each other"),
    ("--out_nodes=a:0", "--singleop and --out_nodes exclude each other"),
    ("--dynamic_dims=1;2", "exclude each other"),
    ("--display_model_info=1", "exclude each other"),
    ("--soc_version=Ascend999", "in --soc_version"),
    ("--precision_mode=nonsense", "expected one of must_keep_origin_dtype"),
])
def test_options_that_mean_nothing_for_a_single_operator_are_named(folder, option, sentence):
    check_failed(atc("--singleop=ops.json", "--output=out", "--soc_version=Ascend310P3", option),
                 sentence)


def test_two_precision_options_exclude_each_other(folder):
    check_failed(convert("--precision_mode=force_fp32", "--precision_mode_v2=origin"), "exclude")


def test_log_info_names_options_without_effect(folder):
    result = convert("--log=info", "--buffer_optimize=off_optimize")
    assert "--buffer_optimize has no effect off the card" in result.stdout
    assert result.stdout.splitlines()[-1] == SUCCESS


def test_help_lists_options(folder):
    for flag in ("--help", "-h"):
        result = atc(flag)
        assert result.returncode == 0
        for name in ("--model=", "--input_shape=", "--soc_version=", "--dynamic_dims="):
            assert name in result.stdout


def test_an_unknown_shape_asks_for_input_shape(folder):
    check_failed(convert(shape=None), "--input_shape=\"x:")


def test_all_unsupported_operators_are_listed_at_once(folder):
    nodes = [helper.make_node("NotAnOp", ["x"], ["a"], name="first"),
             helper.make_node("NorThis", ["a"], ["y"], name="second", domain="com.example")]
    onnx.save(make_model(nodes=nodes), "odd.onnx")
    check_failed(convert(model="odd.onnx"), "2 operators", r"NotAnOp 'first' .*opset 13",
                 "NorThis 'second' .*com.example")


def test_external_data_is_read_from_the_models_folder_only(folder):
    os.mkdir("ext")
    weight = numpy_helper.from_array(np.ones((1, 3, 8, 8), np.float32), "w")
    model = make_model(nodes=[helper.make_node("Add", ["x", "w"], ["y"])], weights=[weight])
    onnx.save(model, "ext/m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    assert convert(model="ext/m.onnx").returncode == 0
    os.remove("out.om")
    os.rename("ext/w.bin", "w.bin")
    check_failed(convert(model="ext/m.onnx"), "cannot open")
    model = onnx.load("ext/m.onnx", load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "../w.bin"
    open("ext/m.onnx", "wb").write(model.SerializeToString())
    check_failed(convert(model="ext/m.onnx"), "outside the folder")


def test_what_is_wrong_inside_a_model_is_named_with_its_place(folder):
    node = helper.make_node
    cases = [
        ([node("Add", ["x", "b"], ["a"], name="n1"), node("Relu", ["a"], ["b"], name="n2"),
          node("Relu", ["b"], ["y"], name="n3")], {}, "node 'n[12]'.*has a cycle.*export"),
        ([node("Add", ["x", "nope"], ["y"], name="adder")], {},
         "'nope' is used by node 'adder' .Add. but nothing produces it.*export"),
        ([node("Relu", ["x"], ["y"], name="r"), node("Abs", ["x"], ["y"], name="s")], {},
         "'y' comes from node 'r' .Relu. and from node 's' .Abs.*export"),
        ([node("Relu", ["x"], ["y"], name="r", bogus=3)], {}, "Relu 'r' has an attribute 'bogus'"),
        ([node("Relu", ["x", "x"], ["y"], name="r")], {}, "Relu 'r' has 2 inputs"),
        ([node("Relu", ["x"], ["y"], name="r")], {"opset": 99},
         "opset 99 of ai.onnx, the newest that is known is 28; export it with opset 28 or older"),
    ]
    for nodes, arguments, sentence in cases:
        onnx.save(make_model(nodes=nodes, **arguments), "odd.onnx")
        check_failed(convert(model="odd.onnx"), sentence, "'odd.onnx'")


def test_names_of_a_hostile_file_neither_cut_the_sentence_nor_steer_the_terminal(folder):
    good = make_model(nodes=[helper.make_node("Add", ["x", "nope"], ["y"], name="adder")])
    for name, shown in ((b"n\0pe", r"n\\x00pe"), (b"\x1b[2J", r"\\x1b\[2J")):
        open("odd.onnx", "wb").write(good.SerializeToString().replace(b"nope", name))
        check_failed(convert(model="odd.onnx"),
                     f"'{shown}' is used by node 'adder' .Add. but nothing produces it.*export")


def test_opsets_up_to_the_newest_known_are_taken(folder):
    newest = 28
    assert newest == onnx.defs.onnx_opset_version(), "what the onnx package knows"
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="r")]
    onnx.save(make_model(nodes=nodes, opset=newest), "newest.onnx")
    assert convert(model="newest.onnx").returncode == 0
    os.remove("out.om")
    onnx.save(make_model(nodes=nodes, opset=newest + 1), "newer.onnx")
    check_failed(convert(model="newer.onnx"), f"the newest that is known is {newest}")


def test_damaged_models_fail_without_a_crash(folder):
    good = open("small.onnx", "rb").read()
    for size in range(len(good)):
        open("bad.onnx", "wb").write(good[:size])
        if size % 7 == 0:
            result = convert(model="bad.onnx")
            assert result.returncode == 1, (size, result.stderr)
    open("bad.onnx", "wb").write(b"\xff" * 4096)
    check_failed(convert(model="bad.onnx"), "bad.onnx")


def test_a_terminal_sees_progress_and_a_file_the_closing_line_alone(folder):
    watcher, terminal = pty.openpty()
    done = convert(stdout=terminal)
    os.close(terminal)
    seen = b""
    with contextlib.suppress(OSError):  # the end of a terminal is an error
        while more := os.read(watcher, 4096):
            seen += more
    os.close(watcher)
    assert done.returncode == 0, done.stderr
    assert seen.count(b" ...") >= 2, "parts of the work are named while they go on"
    assert seen.decode().rstrip().endswith(SUCCESS)
    assert convert().stdout == f"{START}\n{SUCCESS}\n"


def test_a_write_that_fails_leaves_the_file_that_was_there(folder):
    assert convert().returncode == 0
    before = open("out.om", "rb").read()
    onnx.save(make_model(weights=[numpy_helper.from_array(np.ones(1 << 16, np.float32), "w")],
                         nodes=[helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
                                helper.make_node("Mul", ["x", "s"], ["y"])]), "large.onnx")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))
    done = convert(model="large.onnx", preexec_fn=limit)
    assert done.returncode == 1 and "out.om" in done.stderr, done.stderr
    assert open("out.om", "rb").read() == before
    assert [name for name in os.listdir() if name.startswith("out")] == ["out.om"]


def test_a_model_with_more_outputs_than_can_be_loaded_is_refused(folder):
    nodes = [helper.make_node("Relu", ["x"], [f"y{i}"]) for i in range(257)]
    onnx.save(network(nodes, [("x", TensorProto.FLOAT, [1, 3, 8, 8])],
                      [(f"y{i}", TensorProto.FLOAT, None) for i in range(257)], (), 13),
              "wide.onnx")
    check_failed(convert(model="wide.onnx"), "257 outputs, at most 256 of each can be loaded")


def test_a_few_bytes_that_ask_for_terabytes_are_refused_in_bounded_memory(folder):
    node = helper.make_node
    size = numpy_helper.from_array(np.array([1 << 20, 1 << 22], np.int64), "size")
    bombs = {
        "ConstantOfShape": [node("ConstantOfShape", ["size"], ["c"]),
                            node("ReduceSum", ["c"], ["s"], keepdims=0)],
        "Expand": [node("Expand", ["x0", "size"], ["c"]),
                   node("ReduceSum", ["c"], ["s"], keepdims=0)],
        "Tile": [node("Tile", ["x00", "size"], ["c"]),
                 node("ReduceSum", ["c"], ["s"], keepdims=0)],
    }
    one = [numpy_helper.from_array(np.ones(shape, np.float32), name)
           for name, shape in (("x0", [1]), ("x00", [1, 1]))]
    for name, nodes in bombs.items():
        onnx.save(make_model(nodes=[*nodes, node("Mul", ["x", "s"], ["y"])],
                             weights=[size, *one]), "bomb.onnx")

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        done = convert(model="bomb.onnx", preexec_fn=limit)
        # What no machine holds may be described, but not made: the load of such a model fails.
        assert done.returncode in (0, 1), (name, done.returncode, done.stderr)
        if done.returncode == 0:
            assert os.path.getsize("out.om") < 1 << 20, "the constant was made"
            os.remove("out.om")


@pytest.mark.parametrize("megabytes", [200, 300])
def test_a_process_without_memory_for_a_model_says_so(folder, megabytes):
    node = helper.make_node
    size = numpy_helper.from_array(np.array([2000, 2000], np.int64), "size")
    nodes = [node("ConstantOfShape", ["size"], ["c0"]),
             *[node("Neg", [f"c{i}"], [f"c{i + 1}"]) for i in range(30)],
             node("ReduceSum", ["c30"], ["s"], keepdims=0), node("Mul", ["x", "s"], ["y"])]
    onnx.save(make_model(nodes=nodes, weights=[size]), "large.onnx")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    done = convert(model="large.onnx", preexec_fn=limit)
    if done.returncode != 0:  # a step that finds no room may also be left for the run
        assert done.returncode == 1
        check_failed(done, "memory of this process ran out while 'large.onnx' was converted")


def test_what_is_no_file_or_no_text_is_refused_in_a_few_lines(folder):
    single = ["--output=out", "--soc_version=Ascend310P3"]
    check_failed(atc("--singleop=/dev/zero", *single), "'/dev/zero' is not a regular file")
    check_failed(convert("--insert_op_conf=/dev/zero"), "'/dev/zero' is not a regular file")
    open("pixels.raw", "w").write("x" * 1000000)
    wrong = convert("--precision_mode=force_fp16", "--keep_dtype=pixels.raw")
    check_failed(wrong, "no operator 'xxx", r"\(\d+ bytes\)")
    assert len(wrong.stderr) < 4000


@pytest.mark.parametrize("opset", [9, 11, 13, 15, 17, 18])
def test_the_classifier_operators_convert_at_every_opset(folder, opset):
    rng = np.random.default_rng(0)
    weights = [numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
               for name, shape in [("w", (4, 3, 3, 3)), ("s", (4,)), ("b", (4,)), ("m", (4,)),
                                   ("fc", (5, 4))]]
    weights.append(numpy_helper.from_array(np.ones(4, np.float32), "v"))
    weights.append(numpy_helper.from_array(np.array([1, 4], np.int64), "to"))
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
             helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]),
             helper.make_node("Relu", ["n"], ["r"]),
             helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("AveragePool", ["p"], ["q"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("GlobalAveragePool", ["q"], ["g"]),
             helper.make_node("Reshape", ["g", "to"], ["f"]),
             helper.make_node("Gemm", ["f", "fc"], ["z"], transB=1) if opset >= 11 else
             helper.make_node("Gemm", ["f", "fc", "zero"], ["z"], transB=1),
             helper.make_node("Softmax", ["z"], ["y"], axis=1)]
    weights.append(numpy_helper.from_array(np.zeros(5, np.float32), "zero"))
    onnx.save(make_model(nodes=nodes, weights=weights, opset=opset), "net.onnx")
    result = convert(model="net.onnx")
    assert result.returncode == 0, result.stderr


def test_the_option_table_of_the_page_is_up_to_date():
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_atc_docs.py"),
                           "--check"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
