# SPDX-License-Identifier: Apache-2.0
"""msaccucmp as a user runs it: a model in two precisions or on two devices, layer by layer, and
the options of convert."""
import csv
import os

import numpy as np
import pytest
from test_dump import files_in, make_model, msaccucmp, run_model

LAYERS = ["conv", "block.1/act", "scaled"]


def dump(folder, *options, config=None, **env):
    """The model of test_dump, made with these options of atc, run once and dumped."""
    folder.mkdir()
    make_model(folder, *options)
    run_model(folder, {**(config or {}), "dump": {"dump_path": "out", "dump_list": []}}, **env)
    return str(folder / "out")


def compare(folder, mine, golden):
    """{layer: row} of the CSV, which has the order and the numbers of the table."""
    done = msaccucmp("compare", "-m", mine, "-g", golden, "-out", str(folder))
    assert done.returncode == 0, done.stderr
    with open(folder / "result.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    table = [line.split() for line in done.stdout.splitlines()[1:-1]]
    for row, cells in zip(rows, table, strict=True):
        assert cells[:4] == [row["Index"], row["OpType"], row["Layer"], row["Output"]]
        assert cells[4:8] == [row[name] for name in list(row)[4:8]]
    return {row["Layer"]: row for row in rows}


@pytest.mark.parametrize("mode, cosine, error", [
    ("fp16", 0.99999, 0.03), ("mixed_float16", 0.99999, 0.03), ("mixed_bfloat16", 0.9999, 0.2)])
def test_precisions_of_one_model_are_compared(tmp_path, mode, cosine, error):
    golden = dump(tmp_path / "origin")
    mine = dump(tmp_path / "half", f"--precision_mode_v2={mode}")
    rows = compare(tmp_path, mine, golden)
    assert [name for name in rows if name in LAYERS] == LAYERS, "in the order of execution"
    for name in LAYERS:
        row = rows[name]
        assert float(row["CosineSimilarity"]) >= cosine
        assert 0 < float(row["MaxAbsoluteError"]) < error
        assert 0 < float(row["KullbackLeiblerDivergence"]) < 1e-3
    # Conversions that the precision brings have nothing to compare with.
    others = set(rows) - set(LAYERS)
    assert others and all(rows[n]["OpType"] == "Cast" and rows[n]["Note"] == "only in the first"
                          for n in others)


def test_the_four_figures_are_those_of_numpy(tmp_path):
    golden, mine = dump(tmp_path / "origin"), dump(tmp_path / "half", "--precision_mode_v2=fp16")
    rows = compare(tmp_path, mine, golden)
    arrays = []
    for name, out in (("g", golden), ("m", mine)):
        folder = tmp_path / name
        assert msaccucmp("convert", "-d", out, "-out", str(folder), "-v", "2").returncode == 0
        arrays.append({layer: np.load(folder / file).astype(np.float64).ravel()
                       for layer in LAYERS for file in os.listdir(folder)
                       if f".{layer.replace('/', '_').replace('.', '_')}." in file})
    assert set(arrays[0]) == set(arrays[1]) == set(LAYERS)
    for layer in LAYERS:
        want, got = arrays[0][layer], arrays[1][layer]
        away, row = np.abs(got - want), rows[layer]
        figures = {
            "CosineSimilarity": got @ want / np.sqrt((got @ got) * (want @ want)),
            "MaxAbsoluteError": away.max(),
            "MaxRelativeError": (away[want != 0] / np.abs(want[want != 0])).max(),
            "KullbackLeiblerDivergence": divergence(want, got),
        }
        for name, figure in figures.items():
            assert float(row[name]) == pytest.approx(figure, rel=1e-4, abs=1e-9), (layer, name)


def divergence(want, got):
    """From what share of the whole each element has in one to what it has in the other."""
    p, q = (np.abs(x) / np.abs(x).sum() for x in (got, want))
    return float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum())


def test_a_list_of_dumps_is_converted(tmp_path):
    out = dump(tmp_path / "model")
    paths = sorted(files_in(out).values())
    done = msaccucmp("convert", "-d", ",".join(paths[:2]), "-out", str(tmp_path / "npy"))
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path / "npy")) == sorted(
        f"{os.path.basename(path)}.output.0.npy" for path in paths[:2])
    gone = msaccucmp("convert", "-d", f"{paths[0]},{tmp_path}/absent", "-out", str(tmp_path / "o"))
    assert gone.returncode != 0 and "absent" in gone.stdout + gone.stderr


def test_devices_give_the_same_bytes(tmp_path):
    for name, device in (("a", "0"), ("b", "1")):
        dump(tmp_path / name, ANYNPU_DEVICES="cpu:2", DUMP_ON_DEVICE=device)
    folders = {name: {path.split("/")[1] for path in files_in(tmp_path / name / "out")}
               for name in ("a", "b")}
    assert folders == {"a": {"0"}, "b": {"1"}}
    rows = compare(tmp_path, str(tmp_path / "a" / "out"), str(tmp_path / "b" / "out"))
    assert list(rows) == LAYERS
    for row in rows.values():
        assert float(row["MaxAbsoluteError"]) == float(row["MaxRelativeError"]) == 0
        assert float(row["CosineSimilarity"]) == pytest.approx(1)


def test_layers_of_one_side_alone_and_other_shapes_are_named(tmp_path):
    mine, golden = dump(tmp_path / "a"), dump(tmp_path / "b")
    (scaled,) = [path for name, path in files_in(golden).items() if ".scaled." in name]
    os.remove(scaled)
    rows = compare(tmp_path, mine, golden)
    assert rows["scaled"]["Note"] == "only in the first"
    assert compare(tmp_path, golden, mine)["scaled"]["Note"] == "only in the second"
    assert msaccucmp("compare", "-m", str(tmp_path / "absent"), "-g", golden).returncode == 1


def test_axes_are_put_in_another_order_and_the_extents_are_in_the_name(tmp_path):
    out = dump(tmp_path / "net")
    (path,) = [path for name, path in files_in(out).items() if ".conv." in name]
    name = os.path.basename(path)
    for options, suffix in (([], ""), (["-f", "NHWC"], ".1x8x8x20"), (["-f", "nchw"], ".1x20x8x8"),
                            (["-s", "20,64"], ".20x64")):
        done = msaccucmp("convert", "-d", path, "-out", str(tmp_path / "npy"), *options)
        assert done.returncode == 0, done.stderr
        assert os.path.exists(tmp_path / "npy" / f"{name}.output.0{suffix}.npy")
    plain, turned = (np.load(tmp_path / "npy" / f"{name}.output.0{suffix}.npy")
                     for suffix in ("", ".1x8x8x20"))
    np.testing.assert_array_equal(turned, plain.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("options, words", [
    (["-f", "NHWD"], "order NHWD"), (["-s", "7,7"], "reshape"),
    (["-s", "a"], "no list of extents")])
def test_what_convert_cannot_do_is_told(tmp_path, options, words):
    out = dump(tmp_path / "net")
    done = msaccucmp("convert", "-d", out, "-out", str(tmp_path), *options)
    assert done.returncode != 0 and words in done.stderr


def test_a_script_of_ones_own_is_not_run_and_that_is_said(tmp_path):
    out = dump(tmp_path / "net")
    done = msaccucmp("convert", "-d", out, "-out", str(tmp_path / "npy"), "-c", "script.py")
    assert done.returncode == 0 and "script.py" in done.stderr
