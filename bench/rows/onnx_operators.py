# SPDX-License-Identifier: Apache-2.0
"""Single operators through acl.mdl against onnxruntime: processor time on one thread."""

import os

os.environ["ANYNPU_THREADS"] = "1"  # read when the library is loaded

import time  # noqa: E402

import numpy as np  # noqa: E402
import peers  # noqa: E402
from harness import number, ratio_of  # noqa: E402
from model_worker import AnyNpu  # noqa: E402
from onnx_operators import cases  # noqa: E402

PAIRS, SAMPLE = 21, 0.004  # seconds of a sample, at least


def write_model(case, path):
    import onnx
    from onnx import helper, numpy_helper

    names = [f"x{i}" if np.size(x) else "" for i, x in enumerate(case.inputs)]
    node = helper.make_node(case.op, names, [f"y{i}" for i in range(case.outputs)],
                            **case.attributes)
    fed, weights = {}, []
    for i, (name, array) in enumerate(zip(names, map(np.asarray, case.inputs))):
        if name and i in case.constants:
            weights.append(numpy_helper.from_array(array, name))
        elif name:
            fed[name] = array
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
              for n, a in fed.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "operator", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)],
                              ir_version=10)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return fed


def seconds(run, times):
    begin = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - begin) / times


def rows(report):
    what = "{}: processor time over onnxruntime"
    if peers.missing("onnxruntime"):
        return report.skip(what.format("operators"), "onnxruntime is not installed")
    import onnxruntime

    build = os.path.abspath(report.build)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    path = os.path.join(peers.folder(build), "operator.onnx")
    for number_of_case, case in enumerate(cases()):
        fed = write_model(case, path)
        om, _ = peers.compile_om(path, build)
        ours = AnyNpu(om, fed, 1, start=number_of_case == 0)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in fed.items():
            binding.bind_cpu_input(name, np.ascontiguousarray(array))
        for output in session.get_outputs():
            binding.bind_output(output.name)
        taken = ([], [])

        def side(run, kept):
            run()
            times = max(1, round(SAMPLE / max(seconds(run, 3), 1e-7)))

            def sample():
                kept.append(seconds(run, times))
                return kept[-1]
            return sample

        ratio = ratio_of(side(ours.run, taken[0]),
                         side(lambda b=binding, s=session: s.run_with_iobinding(b), taken[1]),
                         PAIRS)
        medians = [number(sorted(kept)[len(kept) // 2] * 1e6) for kept in taken]
        shapes = ", ".join("x".join(map(str, np.shape(x))) or "1" for x in fed.values())
        report.add(what.format(f"{case.label} ({shapes})"), None, "x", ratio,
                   f"{medians[0]} us, onnxruntime {medians[1]} us")
        ours.close()
