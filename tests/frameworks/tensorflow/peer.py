# SPDX-License-Identifier: Apache-2.0
"""The same cases through tf2onnx and onnxruntime: what a user without AnyNPU has."""
import logging
import multiprocessing

import numpy as np
import tf_archive

OPSET = 18  # the newest that tf2onnx writes
SECONDS = 300  # of one case, with the start of a process on a busy machine


def ort_feed(onnxruntime, array):
    if not tf_archive.is_of_ml_dtypes(array):
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)
    bits = array.view(np.uint16)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 16)  # BFLOAT16


def outputs_of(case):
    import onnxruntime
    import tensorflow as tf
    import tf2onnx

    logging.disable(logging.CRITICAL)
    onnxruntime.set_default_logger_severity(4)
    graph_def = tf.compat.v1.GraphDef.FromString(case.graph)
    shapes = {name + ":0": list(array.shape) for name, array in case.inputs.items()}
    model, _ = tf2onnx.convert.from_graph_def(
        graph_def, input_names=list(shapes), output_names=list(case.outputs), opset=OPSET,
        shape_override=shapes if case.is_open else None)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    left = {value.name for value in session.get_inputs()}
    feeds = {name + ":0": ort_feed(onnxruntime, array) for name, array in case.inputs.items()
             if name + ":0" in left}
    results = session.run_with_ort_values(list(case.outputs), feeds)
    arrays = []
    for result, want in zip(results, case.outputs.values()):
        if not tf_archive.is_of_ml_dtypes(want):
            arrays.append(result.numpy())
        else:
            import ctypes
            raw = ctypes.string_at(result.data_ptr(), int(np.prod(result.shape())) * 2)
            arrays.append(np.frombuffer(raw, want.dtype).reshape(result.shape()))
    return arrays


def verdict(case):
    """Empty when the case passes there; otherwise why not."""
    try:
        for got, want in zip(outputs_of(case), case.outputs.values(), strict=True):
            wrong = tf_archive.difference(got, want, case.rtol)
            if wrong:
                return wrong[:100]
    except BaseException as error:  # noqa: BLE001  whatever it is, the case does not pass there
        return " ".join(f"{type(error).__name__}: {error}".split())[:100]
    return ""


def verdicts(cases, jobs=2):
    """{name: verdict}; a process that dies or hangs costs its case alone."""
    answers, waiting = {}, list(cases)
    context = multiprocessing.get_context("spawn")  # TensorFlow does not survive a fork
    while waiting:
        with context.Pool(jobs) as pool:
            handed = [(case, pool.apply_async(verdict, (case,))) for case in waiting]
            waiting = []
            for case, answer in handed:
                try:
                    answers[case.name] = answer.get(SECONDS)
                except multiprocessing.TimeoutError:
                    answers[case.name] = "the process ended or took too long"
                    waiting = [c for c, _ in handed if c.name not in answers]
                    break
    return answers
