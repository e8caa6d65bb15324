# SPDX-License-Identifier: Apache-2.0
"""python3 -m ais_bench: runs, inputs, results, the summary, and the lines it prints."""
import filecmp
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from command_files import NUMBER, save, summary_of
from om_models import image


def test_the_command_runs_as_a_module_and_as_a_file(models):
    import ais_bench
    package = os.path.dirname(ais_bench.__file__)
    for program in (["-m", "ais_bench"], [f"{package}/__main__.py"]):
        done = subprocess.run([sys.executable, *program, "--model", models("fixed")],
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and "Performance Summary" in done.stdout, done.stderr


@pytest.mark.parametrize("words, code", [([], 0), (["--dymBatch", "3"], 1)])
def test_every_line_goes_to_stdout_and_begins_with_its_level(models, words, code):
    done = subprocess.run([sys.executable, "-m", "ais_bench", "--model", models("fixed"), *words],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == code and done.stderr == ""
    lines = [line for line in re.split("[\r\n]+", done.stdout) if line]
    known = re.compile(r"\[(INFO|WARNING|ERROR|DEBUG)\] \S|Inference array Processing: ")
    others = [line for line in lines if not known.match(line)]
    assert others == [] and len(lines) > 5
    assert any(line.startswith("[ERROR] RuntimeError: ") for line in lines) == bool(code)


def test_pure_inference_prints_the_summary_word_for_word(run, models):
    text = run("--model", models("fixed"))
    statistics = f"min = {NUMBER}, max = {NUMBER}, mean = {NUMBER}, median = {NUMBER}, " \
                 rf"percentile\(99%\) = {NUMBER}"
    assert re.search(
        r"\[INFO\] -----------------Performance Summary------------------\n"
        rf"\[INFO\] NPU_compute_time \(ms\): {statistics}\n"
        rf"\[INFO\] throughput 1000\*batchsize\.mean\(1\)/NPU_compute_time\.mean\({NUMBER}\): "
        rf"{NUMBER}\n"
        r"\[INFO\] ------------------------------------------------------\n", text), text
    assert "[INFO] try get model batchsize:1\n" in text and "[INFO] warm up 1 done\n" in text
    assert "Inference array Processing: 100%" in text
    text = run("--model", models("fixed"), "--display_all_summary", "yes")
    for name in ("H2D_latency", "NPU_compute_time", "D2H_latency"):
        assert re.search(rf"\[INFO\] {name} \(ms\): {statistics}\n", text), text
    assert text.index("H2D") < text.index("NPU_compute_time (ms)") < text.index("D2H")


def test_options_take_blanks_equals_signs_short_names_and_prefixes(run, models):
    path = models("fixed")
    for words in (["--model", path], [f"--model={path}"], ["-m", path], ["--mod", path]):
        run(*words, "-l=2", "-d", "1", "--outf=NPY", "--warm", 0)


def test_the_number_of_executions_is_warm_up_plus_runs_times_loop(run, models, tmp_path):
    files = save(str(tmp_path / "in"), **{f"x{i}": image(1, 3, 8, 8) + i for i in range(3)})
    text = run("--model", models("fixed"), "--input", ",".join(files), "--debug", 1, "--loop", 4,
               "--warmup_count", 2)
    assert len(re.findall(r"\[DEBUG\] model aclExec cost : ", text)) == 2 + 3 * 4
    assert "[INFO] warm up 2 done" in text
    text = run("--model", models("fixed"), "--input", ",".join(files), "--debug", 1,
               "--pipeline", 1, "--threads", 2)
    assert len(re.findall("model aclExec cost :", text)) == 1 * 2 + 3
    assert "[INFO] run in pipeline mode with computing threadsnumber:2" in text


def test_the_summary_file_agrees_with_the_log(run, models, out):
    text = run("--model", models("fixed"), "--output", out, "--output_dirname", "r", "--debug", 1,
               "--loop", 20, "--warmup_count", 0)
    costs = [float(cost) for cost in re.findall(r"aclExec cost : ([\d.]+)", text)]
    summary = summary_of(out)
    group = summary["NPU_compute_time"]
    assert set(group) == {"min", "max", "mean", "median", "percentile(99%)", "count"}
    assert group["mean"] == pytest.approx(np.mean(costs), abs=1e-6)
    assert group["percentile(99%)"] == pytest.approx(np.percentile(costs, 99), abs=1e-6)
    assert group["count"] == 20 == len(summary["npu_compute_time_list"])
    assert summary["throughput"] == pytest.approx(1000 / group["mean"])
    assert summary["pid"] == os.getpid() and isinstance(summary["args"], list)
    assert f"[INFO] output path:{out}/r\n" in text
    assert summary["H2D_latency"]["count"] == 1 and summary["D2H_latency"]["count"] == 2


@pytest.mark.parametrize("form", ["BIN", "NPY", "TXT"])
@pytest.mark.parametrize("mode", ["array", "tensor", "full"])
def test_results_are_files_named_after_the_first_input(run, models, make, tmp_path, out, form,
                                                      mode):
    x = image(1, 3, 8, 8)
    (path,) = save(str(tmp_path / "in"), **{"pic": x})
    named = str(tmp_path / "in" / "pic.v1.npy")
    os.rename(path, named)
    text = run("--model", models("fixed"), "--input", named, "--output", out, "--output_dirname",
               "r", "--outfmt", form, "--run_mode", mode)
    assert {"full": "Inference Processing full"}.get(mode, f"Inference {mode} Processing") in text
    want = make("fixed").infer([x])
    suffix = form.lower()
    assert sorted(os.listdir(f"{out}/r")) == [f"pic_0.{suffix}", f"pic_1.{suffix}"]
    for index, array in enumerate(want):
        name = f"{out}/r/pic_{index}.{suffix}"
        if form == "NPY":
            assert np.load(name).tobytes() == array.tobytes()
        elif form == "BIN":
            assert open(name, "rb").read() == array.tobytes()
        else:
            rows = open(name).read().splitlines()
            assert len(rows) == array.size // array.shape[-1]
            assert rows[0] == " ".join(f"{v:f}" for v in array.reshape(-1, array.shape[-1])[0])
        assert os.stat(name).st_mode & 0o777 == 0o640
    assert os.stat(f"{out}/r").st_mode & 0o777 == 0o750
    assert summary_of(out)["filesinfo"] == {"0": {
        "infiles": [named], "outfiles": [f"{out}/r/pic_{i}.{suffix}" for i in range(2)]}}


def test_raw_files_go_straight_to_the_device(run, models, make, tmp_path, out):
    x = image(1, 3, 8, 8)
    raw, array = save(str(tmp_path / "in"), a_bin=x, b=x)
    text = run("--model", models("fixed"), "--input", raw, "--output", out, "--output_dirname",
               "r", "--run_mode", "files", "--outfmt", "NPY")
    assert "Inference files Processing" in text
    np.testing.assert_array_equal(np.load(f"{out}/r/a_0.npy"), make("fixed").infer([x])[0])
    assert "reads raw files" in run("--model", models("fixed"), "--input", array, "--run_mode",
                                    "files", code=1)
    assert "reads raw files" in run("--model", models("fixed"), "--run_mode", "files", code=1)


def test_files_are_combined_into_batches_and_results_split_again(run, models, make, tmp_path, out):
    samples = {f"s{i}": image(1, 3, 8, 8) + i for i in range(10)}
    save(str(tmp_path / "in"), **samples)
    text = run("--model", models("four"), "--input", tmp_path / "in", "--output", out,
               "--output_dirname", "r", "--outfmt", "NPY")
    assert ("[INFO] get filesperbatch files0 size:768 tensor0size:3072 filesperbatch:4 runcount:3"
            in text)
    assert "throughput 1000*batchsize.mean(4)/" in text
    session = make("fixed")
    for name, x in samples.items():
        got = np.load(f"{out}/r/{name}_0.npy")
        assert got.shape == (1, 5)
        np.testing.assert_allclose(got, session.infer([x])[0], rtol=1e-5)
    assert len(os.listdir(f"{out}/r")) == 20, "nothing is written for the padding"
    info = summary_of(out)["filesinfo"]
    assert list(info) == [str(i) for i in range(10)]
    assert info["9"]["infiles"] == [f"{tmp_path}/in/s9.npy"], "natural order"


def test_a_folder_gives_its_npy_and_bin_files_in_either_case(run, models, tmp_path, out):
    folder = tmp_path / "in"
    paths = save(str(folder), a10_bin=image(1, 3, 8, 8), b=image(1, 3, 8, 8), a9=image(1, 3, 8, 8))
    os.rename(paths[0], folder / "a10.BIN")
    os.rename(paths[1], folder / "B.NPY")
    (folder / "notes.txt").write_text("left out")
    run("--model", models("fixed"), "--input", folder, "--output", out, "--output_dirname", "r")
    info = summary_of(out)["filesinfo"]
    assert [os.path.basename(info[str(i)]["infiles"][0]) for i in range(len(info))] == [
        "a9.npy", "a10.BIN", "B.NPY"]
    odd = folder / "a\u00b2.npy"  # a digit that is no number
    odd.write_bytes(b"")
    assert "characters" in run("--model", models("fixed"), "--input", folder, code=1)
    odd.unlink()
    os.symlink(folder / "a9.npy", folder / "link.npy")
    text = run("--model", models("fixed"), "--input", folder, code=1)
    assert "soft link" in text and "link.npy" in text


def test_an_axis_that_cannot_be_split_is_named(run, models, tmp_path, out):
    save(str(tmp_path / "in"), **{f"s{i}": image(1, 3, 8, 8) for i in range(4)})
    common = ["--model", models("four"), "--input", tmp_path / "in", "--output", out]
    assert "save out files error" in run(*common, "--output_batchsize_axis", 1, code=1)
    assert "save out files error" in run(*common, "--output_batchsize_axis", 7, code=1)


def test_several_inputs_have_a_folder_or_a_part_of_the_files_each(run, models, tmp_path, out):
    a = {f"a{i}": image(4, 8) + i for i in range(3)}
    b = {f"b{i}": image(4, 8) * i for i in range(3)}
    one, two = save(str(tmp_path / "a"), **a), save(str(tmp_path / "b"), **b)
    for given in (f"{tmp_path}/a,{tmp_path}/b", ",".join(one + two)):
        run("--model", models("step"), "--input", given, "--output", out, "--output_dirname", "r",
            "--outfmt", "NPY")
        for i in range(3):
            np.testing.assert_array_equal(np.load(f"{out}/r/a{i}_0.npy"), a[f"a{i}"] + b[f"b{i}"])


@pytest.mark.parametrize("arguments, sentence", [
    (["{a}"], "1 folders were given, the model has 2 inputs"),
    (["{a},{a}/x.npy"], "mixes files and folders"),
    (["{a}/x.npy"], "1 files were given for 2 inputs"),
    (["{a},{empty}"], "has no .npy or .bin file"),
    (["{a},{two}"], r"the inputs have \[1, 2\] files"),
    (["{a}/x.npy,{two}/small.npy"], "input 'b' needs 128"),
    (["{two}/small.npy,{a}/x.npy", "--pipeline", "1"], "the pipeline runs one file at a time"),
    (["{two}/odd.npy,{a}/x.npy"], "no whole number of files"),
])
def test_inputs_that_do_not_fit_are_named(run, models, tmp_path, arguments, sentence):
    save(str(tmp_path / "a"), x=image(4, 8))
    save(str(tmp_path / "two"), small=image(2, 8), odd=image(3, 5))
    os.makedirs(tmp_path / "empty", 0o750)
    names = {name: tmp_path / name for name in ("a", "two", "empty")}
    words = [word.format(**names) for word in arguments]
    text = run("--model", models("step"), "--input", *words, code=1)
    assert re.search(sentence, text), text


@pytest.mark.parametrize("name, options, batch", [
    ("batch", ["--dymBatch", "2"], 2),
    ("image", ["--dymHW", "16,12"], 2),
    ("dims", ["--dymDims", "a:5,4;b:4"], 5),
    ("range", ["--dymShape", "image:3,3,8,8", "--outputSize", "100000,100000"], 3),
    ("range", ["--dym-shape=image:3,3,8,8", "--outputSize=100000,100000"], 3),
])
def test_dynamic_models_run_in_the_shape_that_is_asked_for(run, models, name, options, batch):
    assert f"batchsize.mean({batch})" in run("--model", models(name), *options)
    assert "batchsize.mean(7)" in run("--model", models(name), *options, "--batchsize", 7)


@pytest.mark.parametrize("name, options, sentence", [
    ("batch", [], "is open; choose a gear"),
    ("batch", ["--dymBatch", "3"], "3 is no batch gear"),
    ("image", ["--dymHW", "5,5"], "5,5 is no image gear"),
    ("dims", ["--dymDims", "a:5,4;b:5"], "no dims gear"),
    ("dims", ["--dymDims", "a:5,4"], "missing"),
    ("range", ["--dymShape", "image:3,3,8,8"], "on the command line with --outputSize"),
    ("range", ["--dymShape", "image:3,3,8,8", "--outputSize", "10,10"], "10 bytes"),
])
def test_shapes_that_the_model_does_not_have_end_with_status_1(run, models, name, options,
                                                               sentence):
    assert sentence in run("--model", models(name), *options, code=1)


def test_auto_modes_take_the_shape_of_each_file(run, models, tmp_path, out):
    images = {f"x{i}": image(i, 3, 8, 8 + i) for i in (1, 2, 3)}
    save(str(tmp_path / "in"), **images)
    text = run("--model", models("range"), "--input", tmp_path / "in", "--outputSize",
               "100000,100000", "--auto_set_dymshape_mode", 1, "--output", out,
               "--output_dirname", "r", "--outfmt", "NPY")
    assert "batchsize.mean(2.0)" in text
    assert [np.load(f"{out}/r/x{i}_1.npy").shape for i in (1, 2, 3)] == [
        (i, 4, 8, 8 + i) for i in (1, 2, 3)]
    rows = {"p": (2, 3), "q": (5, 4)}
    for name, (m, k) in rows.items():
        save(str(tmp_path / "a"), **{name: image(m, k)})
        save(str(tmp_path / "b"), **{name: image(k)})
    for more in ([], ["--pipeline", 1], ["--run_mode", "full"]):
        run("--model", models("dims"), "--input", f"{tmp_path}/a,{tmp_path}/b",
            "--auto_set_dymdims_mode", 1, "--output", out, "--output_dirname", "d", "--outfmt",
            "NPY", *more)
        for name, (m, k) in rows.items():
            np.testing.assert_array_equal(np.load(f"{out}/d/{name}_0.npy"), image(m, k) + image(k))


def test_the_pipeline_writes_the_files_of_plain_runs(run, models, tmp_path, out):
    save(str(tmp_path / "in"), **{f"x{i}": image(1, 3, 8, 8) + i for i in range(20)})
    common = ["--model", models("fixed"), "--input", tmp_path / "in", "--output", out]
    run(*common, "--output_dirname", "plain")
    for threads in (1, 3):
        text = run(*common, "--output_dirname", f"p{threads}", "--pipeline", 1, "--threads",
                   threads, "--display_all_summary", 1)
        names = sorted(os.listdir(f"{out}/plain"))
        assert sorted(os.listdir(f"{out}/p{threads}")) == names and len(names) == 40
        for name in names:
            assert filecmp.cmp(f"{out}/plain/{name}", f"{out}/p{threads}/{name}", shallow=False)
    group = summary_of(out, "p3")["NPU_compute_time"]
    assert set(group) == {"mean", "count"} and group["count"] == 20
    assert all(len(pair) == 2 for pair in summary_of(out, "p3")["npu_compute_time_list"])
    assert re.search(rf"NPU_compute_time \(ms\): mean = {NUMBER}\n", text)
    assert summary_of(out, "p1")["NPU_compute_time"]["count"] == 20
    text = run("--model", models("fixed"), "--pipeline", 1, "--pure_data_type", "random",
               "--output", out, "--output_dirname", "pure")
    assert sorted(os.listdir(f"{out}/pure")) == [f"pure_infer_data_random_0_{i}.bin"
                                                 for i in range(2)]


def test_made_up_data_is_zero_or_random(run, models, out):
    for kind in ("zero", "random"):
        run("--model", models("bytes"), "--pure_data_type", kind, "--output", out,
            "--output_dirname", kind)
        with open(f"{out}/{kind}/pure_infer_data_0.bin", "rb") as file:
            data = file.read()
        assert len(data) == 64 and any(data) == (kind == "random")


def test_threads_without_the_pipeline_are_set_to_1(run, models):
    text = run("--model", models("fixed"), "--threads", 3)
    assert "[INFO] --threads works with --pipeline alone; threads is set to 1" in text


def test_energy_is_said_to_be_unavailable(run, models):
    text = run("--model", models("fixed"), "--energy_consumption", 1, code=1)
    assert "energy consumption is unavailable" in text


def program(folder, name, text):
    """A program for the PATH that prints `text`."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
    (folder / name).chmod(0o750)


def test_energy_is_power_times_seconds_where_a_card_reports_it(run, models, tmp_path, monkeypatch):
    program(tmp_path / "bin", "npu-smi", "\tPower Dissipation(W)           : 12.5")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    text = run("--model", models("fixed"), "--energy_consumption", 1, "--npu_id", 3)
    assert re.search(rf"\[INFO\] NPU ID:3 energy consumption\(J\):{NUMBER}\n", text), text


def test_perf_runs_the_other_engine_or_names_what_it_needs(run, models, tmp_path, monkeypatch):
    assert "name it with --backend" in run("--model", models("fixed"), "--perf", 1, code=1)
    assert "trtexec" in run("--model", models("fixed"), "--perf", 1, "--backend", "trtexec", code=1)
    program(tmp_path / "bin", "trtexec", "[I] Throughput: 100 qps")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    text = run("--model", models("fixed"), "--perf", 1, "--backend", "trtexec")
    assert "[INFO] perf info:{'Throughput': '100 qps'}" in text


def test_a_wrong_version_of_aclruntime_is_said_and_tensors_are_used(run, models, monkeypatch):
    import importlib.metadata
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.0.1")
    text = run("--model", models("fixed"))
    assert "[WARNING] aclruntime version is 0.0.1" in text
    assert "Inference tensor Processing" in text


def test_ait_says_that_it_is_not_provided():
    done = subprocess.run(["ait", "benchmark"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "python3 -m ais_bench" in done.stderr
