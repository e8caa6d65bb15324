# SPDX-License-Identifier: Apache-2.0
"""Small models, a program that runs one, and what it left behind."""
import json
import os
import subprocess
import sys
import textwrap

import numpy as np

RUN = """
    import sys
    import acl
    import numpy as np
    config, om, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    assert acl.init(config) == 0, acl.get_recent_err_msg()
    assert acl.rt.set_device(0) == 0
    model, ret = acl.mdl.load_from_file(om)
    assert ret == 0, acl.get_recent_err_msg()
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model) == 0

    def dataset(sizes, files):
        made = acl.mdl.create_dataset()
        for i, size in enumerate(sizes):
            address, _ = acl.rt.malloc(size, 2)
            if files:
                data = open(f"input{i}.bin", "rb").read()
                assert acl.rt.memcpy(address, size, acl.util.bytes_to_ptr(data), len(data), 1) == 0
            acl.mdl.add_dataset_buffer(made, acl.create_data_buffer(address, size))
        return made

    inputs = dataset([acl.mdl.get_input_size_by_index(desc, i)
                      for i in range(acl.mdl.get_num_inputs(desc))], True)
    outputs = dataset([acl.mdl.get_output_size_by_index(desc, i) or 4096
                       for i in range(acl.mdl.get_num_outputs(desc))], False)
    stream, _ = acl.rt.create_stream()

    def status():
        memory, _ = acl.rt.malloc(64, 0)
        host, _ = acl.rt.malloc_host(64)
        assert acl.rt.get_overflow_status(memory, 64, stream) == 0
        assert acl.rt.memcpy_async(host, 64, memory, 64, 2, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        return int.from_bytes(acl.util.ptr_to_bytes(host, 4), "little")

    def execute():
        return acl.mdl.execute(model, inputs, outputs)
"""


def make_model(folder, nodes, inputs, outputs, constants=(), *options, name="net", arrays=()):
    """name.om from ONNX nodes; inputs and outputs are (name, type, shape)."""
    import onnx
    from onnx import helper, numpy_helper
    info = [[helper.make_tensor_value_info(*value) for value in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *info,
                              [numpy_helper.from_array(a, n) for n, a in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
              folder / f"{name}.onnx")
    done = subprocess.run(["atc", f"--model={name}.onnx", "--framework=5", f"--output={name}",
                           "--soc_version=Ascend310P3", *options], cwd=folder,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for i, array in enumerate(arrays):
        np.asarray(array).tofile(folder / f"input{i}.bin")


def run_model(folder, config, body="assert execute() == 0, acl.get_recent_err_msg()", **env):
    """What the program printed; `body` stands behind its preparations."""
    (folder / "acl.json").write_text(json.dumps(config))
    (folder / "app.py").write_text(textwrap.dedent(RUN) + textwrap.dedent(body) + "\n")
    done = subprocess.run([sys.executable, "app.py", "acl.json", "net.om", "1"], cwd=folder,
                          capture_output=True, text=True, env={**os.environ, **env}, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_in(folder):
    return {os.path.relpath(os.path.join(at, name), folder): os.path.join(at, name)
            for at, _, names in os.walk(folder) for name in names}
