# SPDX-License-Identifier: Apache-2.0
"""Options of python3 -m ais_bench: what each accepts, file checks, devices, shape ranges and
AIPP."""
import os
import re
import signal
import stat

import numpy as np
import onnx
import pytest
from build_tree import ROOT
from command_files import NUMBER, save, summary_of
from om_models import image
from onnx import TensorProto, helper, numpy_helper

from ais_bench.infer import options
from ais_bench.infer.shape_range import shapes_of
from ais_bench.infer.worker_process import Worker


@pytest.mark.parametrize("words", [
    [], ["--model"], ["--nothing", "1"], ["--loop", "0"], ["--loop", "-1"], ["--loop", "1.5"],
    ["--loop", "100001"], ["--debug", "maybe"], ["--device", "-2"], ["--device", "500"],
    ["--device", "0,x"], ["--device", ",".join(["0"] * 257)], ["--dymBatch", "0"],
    ["--dymHW", "8"], ["--dymHW", "8,8,8"], ["--dymHW", "0,8"], ["--dymDims", "a"],
    ["--dymDims", "a:0,1"], ["--dymShape", "a:1:2"], ["--dymShape", "a b:1"],
    ["--dymShape", "a:" + ",".join("1" * 8)], ["--outputSize", "1;2"], ["--outputSize", "x"],
    ["--outfmt", "CSV"], ["--run_mode", "quick"], ["--pure_data_type", "one"],
    ["--backend", "onnx"], ["--threads", "0"], ["--warmup_count", "-1"], ["--batchsize", "0"],
    ["--output_batchsize_axis", "-1"], ["--npu_id", "256"], ["--dymShape_range", "a:1~0"],
    ["--dymShape_range", "a:1~300"], ["--dymShape_range", "nothing"],
    ["--dymShape_range", "a:1~999999999,1~999999999"], ["--dymShape_range", "a:1~9999999999"],
    ["--dymShape_range", "a:,"], ["--dymShape_range", ""], ["--dymShape_range", "a:1~2~0"],
    ["--dymShape", "a:01"], ["--dymShape", "a:123456"], ["--dymShape", "n" * 257 + ":1"],
    ["--dymShape", ";".join(f"n{i}:1" for i in range(1025))], ["--outputSize", ""],
    ["--input", ",".join(["/dev/null"] * 1025)], ["--input", "/dev/null,"], ["--output", ""],
])
def test_words_that_argparse_refuses_end_with_status_2(run, models, words):
    model = ["--model", models("fixed")] if words not in ([], ["--model"]) else []
    assert "error" in run(*model, *words, code=2)


@pytest.mark.parametrize("words", [
    ["--threads", "65"], ["--warmup_count", "10001"], ["--batchsize", "4097"],
    ["--dymBatch", "4097"], ["--output_batchsize_axis", "9"],
    ["--profiler", "1"], ["--dump", "1"], ["--output_dirname", "x"],
    ["--profiler", "1", "--dump", "1", "--output", "{out}"],
    ["--output", "{out}", "--output_dirname", "/absolute"],
    ["--auto_set_dymshape_mode", "1", "--auto_set_dymdims_mode", "1"],
    ["--device", "200"],
])
def test_words_that_do_not_go_together_end_with_status_1(run, models, out, words):
    text = run("--model", models("fixed"), *(word.format(out=out) for word in words), code=1)
    assert "[ERROR] " in text


@pytest.mark.parametrize("word, value", [(word, True) for word in "yes true t y 1 YES True".split()]
                         + [(word, False) for word in "no false f n 0 No FALSE".split()])
def test_booleans_have_many_words(models, word, value):
    assert options.parse(["--model", models("fixed"), "--debug", word]).debug is value


def test_other_spellings_and_lists(models):
    args = options.parse(["--model", models("fixed"), "--warmup-count", "3", "--dym-shape=a:1",
                          "--device", "0,0,3", "--npu_id", "1,2"])
    assert (args.warmup_count, args.dymShape, args.device, args.npu_id) == (
        3, "a:1", [0, 0, 3], [1, 2])
    defaults = options.parse(["--model", models("fixed")])
    assert {o.names.split()[0][2:]: getattr(defaults, o.names.split()[0][2:])
            for o in options.OPTIONS if o.default is not None} == {
                o.names.split()[0][2:]: o.default for o in options.OPTIONS
                if o.default is not None}


def test_the_page_shows_the_table_of_the_options():
    with open(f"{ROOT}/docs/ais_bench.md", encoding="utf-8") as file:
        assert options.markdown() in file.read(), "run tools/gen_ais_bench_docs.py"


# -- files -----------------------------------------------------------------------------------------

def test_files_that_are_not_safe_are_refused(run, models, tmp_path):
    good = models("fixed")
    with open(good, "rb") as file:
        content = file.read()

    def model(name, mode=0o640):
        path = tmp_path / name
        path.write_bytes(content)
        path.chmod(mode)
        return str(path)

    os.symlink(good, tmp_path / "link.om")
    for path, sentence in [
        (model("a.onnx"), "does not end in .om"), (model("w.om", 0o660), "written by group"),
        (model("o.om", 0o646), "written by group or others"), (f"{tmp_path}/link.om", "soft link"),
        (f"{tmp_path}/none.om", "No such file"), (f"{tmp_path}", "is no file"),
        (model("with blank.om"), "characters"), ("", "is empty"),
        (f"{tmp_path}/{'x' * 300}.om", "longer than 255"),
    ]:
        assert sentence in run("--model", path, code=2)
    assert run("--model", model("b.om"))
    for option, name, sentence in [
        ("--acl_json_path", "a.txt", "does not end in .json"),
        ("--aipp_config", "a.txt", "does not end in .config"),
        ("--input", "none.npy", "No such file"),
    ]:
        if name == "a.txt":
            (tmp_path / name).write_text("{}")
            (tmp_path / name).chmod(0o640)
        assert sentence in run("--model", good, option, f"{tmp_path}/{name}", code=2)
    (tmp_path / "big.config").write_text(" " * 12801)
    assert "at most 12800" in run("--model", good, "--aipp_config", tmp_path / "big.config", code=2)
    (tmp_path / "big.json").write_text(" " * 9000)
    assert "at most 8192" in run("--model", good, "--acl_json_path", f"{tmp_path}/big.json", code=2)


def test_the_output_folder_has_to_be_private_and_writable(run, models, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for mode in (0o755, 0o770, 0o751):
        folder.chmod(mode)
        assert "at most 750" in run("--model", models("fixed"), "--output", folder, code=2)
    folder.chmod(0o750)
    run("--model", models("fixed"), "--output", folder)
    (tmp_path / "file").write_text("")
    assert "is no folder" in run("--model", models("fixed"), "--output", tmp_path / "file", code=2)
    inside = run("--model", models("fixed"), "--output", tmp_path / "file" / "deep", code=1)
    assert "cannot make the folder" in inside


# -- devices ---------------------------------------------------------------------------------------

def test_several_devices_run_at_once_and_are_added_up(run, models, tmp_path, out):
    save(str(tmp_path / "in"), **{f"x{i}": image(1, 3, 8, 8) + i for i in range(5)})
    text = run("--model", models("fixed"), "--input", tmp_path / "in", "--device", "0,1,0",
               "--output", out, "--output_dirname", "r", "--divide_input", 1)
    assert "[INFO] multidevice:[0, 1, 0] run begin\n" in text
    assert "[INFO] multidevice run end qsize:3 result:0\n" in text
    rows = re.findall(rf"\[INFO\] i:(\d) device_(\d) throughput:({NUMBER}) +start_time:{NUMBER} "
                      rf"end_time:{NUMBER}\n", text)
    assert [row[:2] for row in rows] == [("0", "0"), ("1", "1"), ("2", "0")]
    total = re.search(rf"\[INFO\] summary throughput:({NUMBER})\n", text)
    assert float(total.group(1)) == pytest.approx(sum(float(row[2]) for row in rows))
    assert text.count("-Performance Summary-") == 3
    counts = {name: len(os.listdir(f"{out}/r/{name}"))
              for name in ("device0_0", "device1_1", "device0_2")}
    assert counts == {"device0_0": 4, "device1_1": 4, "device0_2": 2}
    assert summary_of(f"{out}/r", "device1_1")["NPU_compute_time"]["count"] == 2


def test_a_device_that_fails_ends_the_command_with_status_1(run, models):
    text = run("--model", models("fixed"), "--device", "0,100", code=1)
    assert "[INFO] multidevice run end qsize:1 result:1\n" in text
    assert "device 100 does not exist" in text and "Traceback" in text


def test_a_killed_child_is_named_and_the_others_are_reported(run, models, monkeypatch):
    go = Worker.go

    def start_line(worker):
        if worker.name == "device 1 (1)":
            os.kill(worker.pid, signal.SIGKILL)
        go(worker)

    monkeypatch.setattr(Worker, "go", start_line)
    text = run("--model", models("fixed"), "--device", "0,1,2", code=1)
    assert re.search(r"\[ERROR\] device 1 \(1\): the worker process \d+ ended by signal 9 "
                     r"\(SIGKILL\) before it answered", text), text
    assert "[INFO] multidevice run end qsize:2 result:1\n" in text
    assert re.findall(r"i:(\d) device_(\d) throughput:", text) == [("0", "0"), ("2", "2")]


# -- shape ranges ----------------------------------------------------------------------------------

def test_ranges_are_every_combination():
    assert shapes_of("a:1,2~4,8-16") == [f"a:1,{i},{j}" for i in (2, 3, 4) for j in (8, 16)]
    assert shapes_of("a:1~5~2;b:3") == ["a:1;b:3", "a:3;b:3", "a:5;b:3"]


def test_every_shape_of_a_range_is_run_and_listed(run, models, tmp_path):
    text = run("--model", models("range"), "--dymShape_range", "image:1-9,3,8,8", "--outputSize",
               "100000,100000")
    assert "-----------------dyshape_range Performance Summary------------------" in text
    first, second = re.findall(
        rf"\[INFO\] (\d) dymshape:(\S+)  result:(\w+) throughput:({NUMBER})\n", text)
    assert first[:3] == ("0", "image:1,3,8,8", "OK") and float(first[3]) > 0
    assert second == ("1", "image:9,3,8,8", "Failed", "0.0")
    assert re.search(rf"run_count:2 success_count:1 avg_throughput:{re.escape(first[3])}\n", text)
    (tmp_path / "r.info").write_text("image:1,3,8,8\nimage:2,3,4~5,8\n")
    (tmp_path / "r.info").chmod(0o640)
    assert len(shapes_of(str(tmp_path / "r.info"))) == 3
    (tmp_path / "r.info").write_text("image:1,3,8,8\n" * 257)
    assert "has 257 lines, at most 256" in run("--model", models("range"), "--dymShape_range",
                                               tmp_path / "r.info", code=2)
    os.rename(tmp_path / "r.info", tmp_path / "r.txt")
    assert "does not end in .info" in run("--model", models("range"), "--dymShape_range",
                                          tmp_path / "r.txt", code=2)


# -- AIPP ------------------------------------------------------------------------------------------

CONFIG = """[aipp_op]
input_format : RGB888_U8
src_image_size_w : 12
src_image_size_h = 16
mean_chn_0 : 10
var_reci_chn_0 : 0.5
var_reci_chn_1 : 1
var_reci_chn_2 : 1
"""


@pytest.fixture
def picture_model(models, tmp_path):
    node, value = helper.make_node, helper.make_tensor_value_info
    graph = helper.make_graph([node("Add", ["image", "zero"], ["y"], name="add")], "g",
                              [value("image", TensorProto.FLOAT, [1, 3, 16, 12])],
                              [value("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.zeros(1, np.float32), "zero")])
    (tmp_path / "aipp.cfg").write_text("aipp_op { aipp_mode: dynamic max_src_image_size: 576 }")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
    assert isinstance(model, onnx.ModelProto)
    return models.compile("picture", model, f"--insert_op_conf={tmp_path}/aipp.cfg")


def config(tmp_path, text, name="a.config"):
    path = tmp_path / name
    path.write_text(text)
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return str(path)


def test_dynamic_aipp_takes_its_parameters_from_the_file(run, picture_model, tmp_path,
                                                         out):
    pixels = np.random.default_rng(1).integers(0, 256, (16, 12, 3), np.uint8)
    (path,) = save(str(tmp_path / "in"), p_bin=pixels)
    run("--model", picture_model, "--input", path, "--aipp_config", config(tmp_path, CONFIG),
        "--output", out, "--output_dirname", "r", "--outfmt", "NPY")
    got = np.load(f"{out}/r/p_0.npy")
    want = pixels.astype(np.float32).transpose(2, 0, 1)[None].copy()
    want[:, 0] = (want[:, 0] - 10) * 0.5
    np.testing.assert_allclose(got, want)
    assert "give its parameters with --aipp_config" in run("--model", picture_model, code=1)


@pytest.mark.parametrize("change, sentence", [
    (("RGB888_U8", "BMP"), "'input_format' is 'BMP'"),
    (("src_image_size_w : 12", ""), "'src_image_size_w' is missing"),
    (("src_image_size_w : 12", "src_image_size_w : 1"), "must be from 2 to 4096"),
    (("mean_chn_0 : 10", "mean_chn_0 : ten"), "no number"),
    (("mean_chn_0 : 10", "crop : 2"), "'crop' is 2"),
    (("[aipp_op]", "[aipp_op]\n[other]"), "the sections"),
    (("[aipp_op]", ""), "cannot be read"),
])
def test_a_wrong_aipp_file_is_named(run, picture_model, tmp_path, change, sentence):
    text = run("--model", picture_model, "--aipp_config",
               config(tmp_path, CONFIG.replace(*change)), code=1)
    assert "wrong aipp config file content!" in text and sentence in text, text


@pytest.mark.parametrize("order", [["check", "set"], ["set", "check"], ["set", "check", "set"]])
def test_aipp_parameters_may_come_before_the_check_that_switches_them_on(picture_model, order):
    import aclruntime
    pixels = np.random.default_rng(1).integers(0, 256, (16, 12, 3), np.uint8)
    session = aclruntime.InferenceSession(picture_model, 0, aclruntime.session_options())
    session.aipp_set_input_format("RGB888_U8")
    session.aipp_set_src_image_size([12, 16])
    session.aipp_set_dtc_pixel_mean([10, 0, 0, 0])
    for step in order:
        {"check": session.check_dym_aipp_input_exist,
         "set": session.set_dym_aipp_info_set}[step]()
    (output,) = session.run([d.name for d in session.get_outputs()], [aclruntime.Tensor(pixels)])
    output.to_host()
    want = pixels.astype(np.float32).transpose(2, 0, 1)[None] - np.array([10, 0, 0])[:, None, None]
    np.testing.assert_allclose(np.array(output), want)
    session.free_resource()
