# SPDX-License-Identifier: Apache-2.0
""".om files of the vendor's atc: what the tools show of them, when they run, what is said when not.
The files are written by tests/support/ge_files.py, in the layout of docs/om_format.md."""
import json
import subprocess

import ge_files
import numpy as np
import pytest
from om_runner import run_om

import acl

pytestmark = pytest.mark.usefixtures("runtime")

SOURCE = {"soc_version": "Ascend310P3", "atc_version": "8.0.RC2",
          "atc_cmdline": "atc --model=net.onnx --framework=5 --output=net --soc_version=Ascend310"}
NZ = "FRACTAL_NZ"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content, name="vendor.om"):
    with open(name, "wb") as file:
        file.write(content)
    return name


def convolution(extra=None):
    """x -> TransData -> Conv2D with FRACTAL_Z filters -> Relu -> TransData, as the chip has it."""
    random = np.random.RandomState(1)
    x = random.randn(1, 5, 6, 6).astype(np.float32)
    w = random.randn(18, 5, 3, 3).astype(np.float32)
    stored = ge_files.fractal_z(w)
    shape5, out = (1, 1, 6, 6, 16), (1, 18, 4, 4)
    blocked = ge_files.desc(np.float32, shape5, "NC1HWC0", origin=(x.shape, "NCHW"))
    made = ge_files.desc(np.float32, (1, 2, 4, 4, 16), "NC1HWC0", origin=(out, "NCHW"))
    filters = ge_files.desc(np.float32, stored.shape, "FRACTAL_Z", origin=(w.shape, "NCHW"))
    graph = ge_files.Graph()
    source = graph.data("x", np.float32, x.shape, "NCHW")
    plain = ge_files.desc(np.float32, x.shape, "NCHW", origin=(x.shape, "NCHW"))
    first = graph.op("TransData", "in_blocks", [source],
                     {"src_format": "NCHW", "dst_format": "NC1HWC0"}, ins=[plain], outs=[blocked])
    weight = graph.const("w", stored, "FRACTAL_Z", origin=(w.shape, "NCHW"), place=64)
    conv = graph.op("Conv2D", "conv", [first, weight],
                    {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "dilations": [1, 1, 1, 1],
                     "groups": 1, "data_format": "NCHW", **(extra or {})},
                    ins=[blocked, filters], outs=[made])
    relu = graph.op("Relu", "relu", [conv], ins=[made], outs=[made])
    end = ge_files.desc(np.float32, out, "NCHW", origin=(out, "NCHW"))
    last = graph.op("TransData", "out_of_blocks", [relu],
                    {"src_format": "NC1HWC0", "dst_format": "NCHW"}, ins=[made], outs=[end])
    graph.output(last, ins=[end])
    weights = bytes(64) + stored.tobytes()
    y = np.zeros(out)
    for i in range(4):
        for j in range(4):
            y[:, :, i, j] = np.einsum("nchw,ochw->no", x[:, :, i:i + 3, j:j + 3], w)
    return graph, weights, x, np.maximum(y, 0)


def vendor_file(graph, weights=b"", **more):
    return ge_files.om_file([(0, ge_files.model_def(graph, "net", SOURCE)), (1, weights),
                             (2, b"tasks"), (3, b"kernels")], name="net", **more)


def test_a_graph_in_the_chips_formats_is_rebuilt_and_runs(capfd):
    graph, weights, x, wanted = convolution()
    write(vendor_file(graph, weights))
    got, = run_om("vendor.om", [x]).values()
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    said = capfd.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "for Ascend310P3, made by release 8.0.RC2" in said[0]
    assert "its graph was rebuilt" in said[0]


def test_a_file_in_memory_runs():
    graph, weights, _, _ = convolution()
    content = np.frombuffer(vendor_file(graph, weights), np.uint8).copy()
    model, ret = acl.mdl.load_from_mem(acl.util.numpy_to_ptr(content), content.nbytes)
    assert ret == 0
    assert acl.mdl.unload(model) == 0


def test_matrices_in_blocks():
    random = np.random.RandomState(2)
    w = random.randn(20, 9).astype(np.float32)
    x = random.randn(3, 20).astype(np.float32)
    stored = ge_files.fractal_nz(w)
    graph = ge_files.Graph()
    source = graph.data("x", np.float32, x.shape)
    weight = graph.const("w", stored, NZ, origin=(w.shape, "ND"))
    product = graph.op("MatMulV2", "product", [source, weight],
                       {"transpose_x1": False, "transpose_x2": False},
                       ins=[ge_files.desc(np.float32, x.shape),
                            ge_files.desc(np.float32, stored.shape, NZ, origin=(w.shape, "ND"))],
                       outs=[ge_files.desc(np.float32, (1, 1, 16, 16), NZ, origin=((3, 9), "ND"))])
    graph.output(product, ins=[ge_files.desc(np.float32, (3, 9))])
    write(vendor_file(graph))
    got, = run_om("vendor.om", [x]).values()
    np.testing.assert_allclose(got, x @ w, rtol=1e-4, atol=1e-4)


def load_failure(content):
    write(content)
    _, ret = acl.mdl.load_from_file("vendor.om")
    assert ret != 0
    return acl.get_recent_err_msg()


def test_what_cannot_be_rebuilt_is_named_with_the_command_to_type():
    graph = ge_files.Graph()
    x = graph.data("x", np.float32, (2, 3))
    a = graph.op("ChipKernel", "first", [x])
    b = graph.op("Relu", "fused", [a], {"_datadump_original_op_names": ["conv1", "relu1"]})
    lost = graph.const("lost", np.zeros((1, 1, 16, 16), np.float32), "FRACTAL_Z")
    graph.output(graph.op("Add", "sum", [b, lost]))
    said = load_failure(vendor_file(graph))
    for part in ("a model of the vendor's atc ('net', for Ascend310P3, made by release 8.0.RC2",
                 "ChipKernel 'first'", "Relu 'fused' (fused for the chip from conv1, relu1)",
                 "Const 'lost' (it lies in the chip's format FRACTAL_Z",
                 "atc --model=net.onnx --framework=5 --output=net --soc_version=Ascend310"):
        assert part in said, said


@pytest.mark.parametrize("more,sentence", [
    ({"encrypted": 1}, "is encrypted"),
    ({"dynamic": 1}, "shapes that come at run time"),
])
def test_files_that_never_run(more, sentence):
    graph, weights, _, _ = convolution()
    assert sentence in load_failure(vendor_file(graph, weights, **more))


def test_every_cut_is_refused():
    graph, weights, _, _ = convolution()
    content = vendor_file(graph, weights)
    for size in [4, 100, 255, 256, 260, 300, 1000, len(content) - 10]:
        assert "cut short" in load_failure(content[:size])


def test_weights_outside_the_part():
    graph, weights, _, _ = convolution()
    assert "lie outside the 100 bytes of weights" in load_failure(vendor_file(graph, weights[:100]))


def test_random_damage_is_a_sentence():
    graph, weights, _, _ = convolution()
    content = bytearray(vendor_file(graph, weights))
    random = np.random.RandomState(3)
    for _ in range(200):
        damaged = bytearray(content)
        for place in random.randint(4, 1500, 3):
            damaged[place] = random.randint(256)
        write(bytes(damaged))
        model, ret = acl.mdl.load_from_file("vendor.om")
        if ret == 0:
            assert acl.mdl.unload(model) == 0
        else:
            assert acl.get_recent_err_msg()


def test_atc_shows_inputs_outputs_operators_and_sizes():
    graph, weights, _, _ = convolution()
    write(vendor_file(graph, weights))
    done = subprocess.run(["atc", "--mode=6", "--om=vendor.om"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for part in ("soc_version[Ascend310P3]", "atc_version[8.0.RC2]", SOURCE["atc_cmdline"],
                 "input  0: name[x], dtype[float32], format[NCHW], dims[1x5x6x6], size[720 B]",
                 "output 0: name[out_of_blocks:0]", f"weight_data_size[{len(weights)} B]",
                 "part 3: kernels of the chip, size[7 B]", "TransData 2"):
        assert part in done.stdout, done.stdout


def test_atc_writes_json_with_every_attribute():
    graph, weights, _, _ = convolution()
    write(vendor_file(graph, weights))
    done = subprocess.run(["atc", "--mode=1", "--om=vendor.om", "--json=vendor.json"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open("vendor.json") as file:
        root = json.load(file)
    ops = {op["name"]: op for op in root["graph"][0]["op"]}
    assert ops["conv"]["type"] == "Conv2D"
    assert {"key": "pads", "value": {"list": {"i": [0, 0, 0, 0], "val_type": "VT_LIST_INT"}}} in \
        ops["conv"]["attr"]
    assert ops["conv"]["input_desc"][0]["layout"] == "NC1HWC0"
    assert root["model_input"] == [{"name": "x", "dtype": "float32", "format": "NCHW",
                                    "dims": [1, 5, 6, 6], "size": 720}]
    assert [part["size"] for part in root["part"]][1] == len(weights)


def test_anynpu_graph_shows_it():
    graph, weights, _, _ = convolution()
    write(vendor_file(graph, weights))
    done = subprocess.run(["anynpu", "graph", "vendor.om"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for part in ("# soc_version: Ascend310P3", "made by release 8.0.RC2",
                 f"# part 1: weights, {len(weights)} bytes",
                 "# part 3: kernels of the chip, 7 bytes",
                 "input  %x:0: float32[1x5x6x6]", "const  %w:0: float32[9x2x16x16]",
                 'conv:0: float32[1x2x4x4x16] = Conv2D "conv" (%in_blocks:0, %w:0) '
                 "{strides=[1, 1, 1, 1], pads=[0, 0, 0, 0]",
                 "output %out_of_blocks:0: float32[1x18x4x4]"):
        assert part in done.stdout, done.stdout
    dot = subprocess.run(["anynpu", "graph", "vendor.om", "--dot"], capture_output=True, text=True)
    assert '"in_blocks" -> "conv"' in dot.stdout
