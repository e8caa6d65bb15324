# SPDX-License-Identifier: Apache-2.0
"""Dumps of models and operators, overflows, and msaccucmp; read back by a reader of their own."""
import json
import os
import re
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from build_tree import SUPPORT

RUN = """
    import os
    import sys
    import acl
    import numpy as np
    config, om, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    assert acl.init(config) == 0, acl.get_recent_err_msg()
    assert acl.rt.set_device(int(os.environ.get("DUMP_ON_DEVICE", "0"))) == 0
    model, ret = acl.mdl.load_from_file(om)
    assert ret == 0, acl.get_recent_err_msg()
    desc = acl.mdl.create_desc()
    acl.mdl.get_desc(desc, model)

    def dataset(count, size_of, data):
        made = acl.mdl.create_dataset()
        for i in range(count):
            size = size_of(desc, i)
            address, _ = acl.rt.malloc(size, 2)
            if data is not None:
                acl.rt.memcpy(address, size, acl.util.bytes_to_ptr(data), size, 1)
            acl.mdl.add_dataset_buffer(made, acl.create_data_buffer(address, size))
        return made

    data = open("input.bin", "rb").read()
    inputs = dataset(1, acl.mdl.get_input_size_by_index, data)
    outputs = dataset(acl.mdl.get_num_outputs(desc), acl.mdl.get_output_size_by_index, None)
    for _ in range(runs):
        assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
    print(model)
"""


def make_model(folder, *options, scale=1.0):
    """x [1,3,8,8] -> conv -> relu -> mul/scaled, as net.om; the picture is in input.bin."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    rng = np.random.default_rng(4)
    weight = rng.standard_normal((20, 3, 3, 3)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
             helper.make_node("Sigmoid", ["c"], ["s"], name="block.1/act"),
             helper.make_node("Mul", ["s", "k"], ["y"], name="scaled")]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 20, 8, 8])],
        [numpy_helper.from_array(weight, "w"),
         numpy_helper.from_array(np.array(scale, np.float32), "k")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
              folder / "net.onnx")
    done = subprocess.run(["atc", "--model=net.onnx", "--framework=5", "--output=net",
                           "--soc_version=Ascend310P3", *options], cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    x = rng.standard_normal((1, 3, 8, 8)).astype(np.float32)
    x.tofile(folder / "input.bin")
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    conv = np.zeros((1, 20, 8, 8))
    for i in range(8):
        for j in range(8):
            conv[:, :, i, j] = np.einsum("nchw,ochw->no", padded[:, :, i:i + 3, j:j + 3], weight)
    return {"conv": conv, "block.1/act": 1 / (1 + np.exp(-conv)),
            "scaled": scale / (1 + np.exp(-conv)), "x": x}


def run_model(folder, config, runs=1, **env):
    (folder / "acl.json").write_text(json.dumps(config))
    (folder / "app.py").write_text(textwrap.dedent(RUN))
    done = subprocess.run([sys.executable, "app.py", "acl.json", "net.om", str(runs)], cwd=folder,
                          capture_output=True, text=True, env={**os.environ, **env}, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.split()[-1])


def files_in(folder):
    return {os.path.relpath(os.path.join(at, name), folder): os.path.join(at, name)
            for at, _, names in os.walk(folder) for name in names}


def read_dump(path):
    """An independent reader, field by field as the layout is documented."""
    data = open(path, "rb").read()
    length, = struct.unpack("<Q", data[:8])
    at, tensors, name = 8, {3: [], 4: []}, None

    def varint(buffer, place):
        value = shift = 0
        while True:
            byte = buffer[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value, place

    def fields(buffer):
        place = 0
        while place < len(buffer):
            key, place = varint(buffer, place)
            if key & 7 == 0:
                value, place = varint(buffer, place)
            else:
                assert key & 7 == 2
                size, place = varint(buffer, place)
                value, place = buffer[place:place + size], place + size
            yield key >> 3, value

    for number, value in fields(data[at:at + length]):
        if number in tensors:
            tensors[number].append(dict(fields(value)))
        elif number == 6:
            name = value.decode()
    at += length
    out = {"name": name, "inputs": [], "outputs": []}
    for number, side, size_field in ((4, "inputs", 5), (3, "outputs", 6)):
        for tensor in tensors[number]:
            assert tensor[1] == 1, "FLOAT"
            packed = dict(fields(tensor[3]))[1]
            dims, place = [], 0
            while place < len(packed):
                extent, place = varint(packed, place)
                dims.append(extent)
            size = tensor[size_field]
            out[side].append(np.frombuffer(data[at:at + size], np.float32).reshape(dims))
            at += size
    assert at == len(data)
    return out


def test_layers_are_written_where_and_as_documented(tmp_path):
    want = make_model(tmp_path)
    model = run_model(tmp_path, {"dump": {"dump_path": "output", "dump_mode": "all",
                                          "dump_list": [{"model_name": "net"}]}}, runs=2)
    found = files_in(tmp_path / "output")
    assert len(found) == 6
    for name, path in found.items():
        match = re.fullmatch(
            rf"\d{{14}}/0/net/{model}/([01])/(\w+)\.(\w+)\.(\d+)\.(\d+)\.(\d{{16}})", name)
        assert match, name
        dump = read_dump(path)
        assert dump["name"].replace(".", "_").replace("/", "_") == match[3]
        np.testing.assert_allclose(dump["outputs"][0], want[dump["name"]], rtol=1e-4, atol=1e-5)
        if dump["name"] == "conv":
            np.testing.assert_array_equal(dump["inputs"][0], want["x"])


@pytest.mark.parametrize("section, names", [
    ({"dump_list": [{"model_name": "net", "layer": ["scaled"]}]}, {"scaled"}),
    ({"dump_list": [{"model_name": "other"}]}, set()),
    ({"dump_list": []}, {"conv", "block_1_act", "scaled"}),
])
def test_models_and_layers_are_chosen(tmp_path, section, names):
    make_model(tmp_path)
    run_model(tmp_path, {"dump": {"dump_path": str(tmp_path / "out"), **section}})
    assert {n.split("/")[-1].split(".")[1] for n in files_in(tmp_path / "out")} == names


@pytest.mark.parametrize("mode, sides", [("input", [1, 0]), ("output", [0, 1]), ("all", [1, 1])])
@pytest.mark.parametrize("level, options", [
    ("op", []), ("kernel", []), ("all", []),
    ("all", ["--status_check=1"])])  # the search for overflows watches the same steps
def test_modes_choose_sides_and_every_level_has_the_operators(tmp_path, mode, sides, level,
                                                              options):
    want = make_model(tmp_path, *options)
    run_model(tmp_path, {"dump": {"dump_path": "out", "dump_mode": mode, "dump_level": level,
                                  "dump_list": [{"model_name": "net", "layer": ["conv"]}]}})
    (path,) = files_in(tmp_path / "out").values()
    dump = read_dump(path)
    assert [min(len(dump[side]), 1) for side in ("inputs", "outputs")] == sides
    if sides[0]:
        np.testing.assert_array_equal(dump["inputs"][0], want["x"])
    if sides[1]:
        np.testing.assert_allclose(dump["outputs"][0], want["conv"], rtol=1e-4, atol=1e-5)


def test_statistics_instead_of_tensors(tmp_path):
    want = make_model(tmp_path)
    run_model(tmp_path, {"dump": {"dump_path": "out", "dump_data": "stats",
                                  "dump_list": [{"model_name": "net", "layer": ["scaled"]}]}})
    (path,) = files_in(tmp_path / "out").values()
    head, line = open(path).read().splitlines()
    row = dict(zip(head.split(","), line.split(",")))
    assert (row["Input/Output"], row["Shape"], row["Count"]) == ("Output", "1x20x8x8", "1280")
    assert float(row["Max Value"]) == pytest.approx(want["scaled"].max(), rel=1e-4)


def msaccucmp(*arguments, cwd=None):
    return subprocess.run(["msaccucmp", *arguments], capture_output=True, text=True, cwd=cwd,
                          timeout=300)


def test_dumps_are_converted_to_numpy(tmp_path):
    want = make_model(tmp_path)
    run_model(tmp_path, {"dump": {"dump_path": "out", "dump_list": []}})
    done = msaccucmp("convert", "-d", str(tmp_path / "out"), "-out", str(tmp_path / "npy"), "-v",
                     "2")
    assert done.returncode == 0, done.stderr
    made = sorted(os.listdir(tmp_path / "npy"))
    assert [n.split(".")[-3:] for n in made] == [["output", "0", "npy"]] * 3
    conv = next(n for n in made if ".conv." in n)
    np.testing.assert_allclose(np.load(tmp_path / "npy" / conv), want["conv"], rtol=1e-4, atol=1e-5)
    one = next(iter(files_in(tmp_path / "out").values()))
    assert msaccucmp("convert", "-d", one, cwd=tmp_path).returncode == 0
    assert os.path.exists(tmp_path / (os.path.basename(one) + ".output.0.npy"))


def test_two_dumps_are_compared_layer_by_layer(tmp_path):
    for name, scale in (("a", 1.0), ("b", 1.5)):
        (tmp_path / name).mkdir()
        make_model(tmp_path / name, scale=scale)
        run_model(tmp_path / name, {"dump": {"dump_path": "out", "dump_list": []}})
    done = msaccucmp("compare", "-m", str(tmp_path / "a" / "out"), "-g",
                     str(tmp_path / "b" / "out"), "-out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = {line.split(",")[2]: line.split(",")
            for line in open(tmp_path / "result.csv").read().splitlines()[1:]}
    assert float(rows["conv"][5]) == 0 and float(rows["conv"][4]) == pytest.approx(1)
    assert float(rows["scaled"][4]) == pytest.approx(1)
    assert float(rows["scaled"][6]) == pytest.approx(1 / 3, rel=1e-4)
    assert "scaled" in done.stdout


def test_overflow_records_become_the_documented_json(tmp_path):
    import onnx
    from onnx import TensorProto, helper
    graph = helper.make_graph(
        [helper.make_node("Exp", ["x"], ["e"], name="exp"),
         helper.make_node("Neg", ["e"], ["y"], name="neg")], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
              tmp_path / "net.onnx")
    np.array([1, 100, 2, 3], np.float32).tofile(tmp_path / "input.bin")
    for options, count in ((["--status_check=1"], 2), ([], 0)):
        subprocess.run(["atc", "--model=net.onnx", "--framework=5", "--output=net",
                        "--soc_version=Ascend310P3", *options], cwd=tmp_path, check=True,
                       stdout=subprocess.DEVNULL)
        config = {"dump": {"dump_path": f"output{count}", "dump_debug": "on"}}
        model = run_model(tmp_path, config)
        found = files_in(tmp_path / f"output{count}")
        assert len(found) == count, found
        if not count:
            continue
        record = next(p for n, p in found.items() if "OpDebug.Node_Opdebug." in n)
        assert any("/Exp.exp." in n for n in found)
        done = msaccucmp("convert", "-d", record, "-out", str(tmp_path / "json"))
        assert done.returncode == 0, done.stderr
        (name,) = os.listdir(tmp_path / "json")
        result = json.load(open(tmp_path / "json" / name))
        assert set(result) == {"DHA Atomic Add", "L2 Atomic Add", "AI Core"}
        assert result["AI Core"]["model_id"] == model
        assert result["AI Core"]["status"] == 0x20
        assert result["DHA Atomic Add"]["status"] == 0


def test_single_operators_are_dumped(tmp_path):
    (tmp_path / "acl.json").write_text(json.dumps(
        {"dump": {"dump_path": "out", "dump_op_switch": "on", "dump_list": [{}]}}))
    (tmp_path / "app.py").write_text(textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {SUPPORT!r})
        import acl, numpy as np, single_op
        assert acl.init("acl.json") == 0
        assert acl.rt.set_device(0) == 0
        x = np.arange(6, dtype=np.float32)
        single_op.run("Add", [x, x], [x])
    """))
    done = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ((name, path),) = files_in(tmp_path / "out").items()
    assert re.fullmatch(r"\d{14}/0/Add\.Add\.\d+\.\d+\.\d+", name), name
    np.testing.assert_array_equal(read_dump(path)["outputs"][0], 2 * np.arange(6))


@pytest.fixture
def started(device_0):
    import acl
    return acl


def test_a_dump_is_set_at_run_time(tmp_path, started):
    acl = started
    make_model(tmp_path)
    (tmp_path / "dump.json").write_text(json.dumps(
        {"dump": {"dump_path": str(tmp_path / "out"), "dump_list": [{"model_name": "net"}]}}))
    assert acl.mdl.set_dump(str(tmp_path / "dump.json")) == 100000
    assert "aclmdlInitDump" in acl.get_recent_err_msg()
    assert acl.mdl.init_dump() == 0
    assert acl.mdl.init_dump() == 100000
    assert acl.mdl.set_dump(str(tmp_path / "absent.json")) != 0
    (tmp_path / "bad.json").write_text('{"dump": {"dump_mode": "sideways"}}')
    assert acl.mdl.set_dump(str(tmp_path / "bad.json")) == 100009
    assert acl.mdl.set_dump(str(tmp_path / "dump.json")) == 0
    model, ret = acl.mdl.load_from_file(str(tmp_path / "net.om"))
    assert ret == 0
    sets = []
    for size in (3 * 64 * 4, 20 * 64 * 4):
        address, _ = acl.rt.malloc(size, 2)
        sets.append(acl.mdl.create_dataset())
        acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(address, size))
    assert acl.mdl.execute(model, *sets) == 0
    assert len(files_in(tmp_path / "out")) == 3
    assert acl.mdl.finalize_dump() == 0
    assert acl.mdl.finalize_dump() == 100000


@pytest.mark.parametrize("data, words", [
    (b"", "0 bytes"), (b"\xff" * 64, "header"),
    (struct.pack("<Q", 4) + b"\x1a\x7f\0\0", "127 bytes"),
    (struct.pack("<Q", 0) + b"more", "behind")])
def test_files_that_are_no_dumps_are_named(tmp_path, data, words):
    (tmp_path / "X.x.1.1.1").write_bytes(data)
    done = msaccucmp("convert", "-d", str(tmp_path / "X.x.1.1.1"), "-out", str(tmp_path / "o"))
    assert done.returncode == 1
    assert words in done.stderr and "X.x.1.1.1" in done.stderr
