# SPDX-License-Identifier: Apache-2.0
"""The pipeline over files of InferenceSession.run_pipeline: a thread reads ahead and a thread
writes while the session copies and computes; more sessions can work in parallel."""
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from aclruntime.output_files import make_folder, write_array
from aclruntime.shape_text import shapes_text
from aclruntime.stages import stage

_TOGETHER = 8  # runs that go through the session at once
_CUT = (".npy", ".bin", ".NPY", ".BIN")
PURE_ZERO, PURE_RANDOM = "pure_infer_data_zero", "pure_infer_data_random"


def read_input(path):
    """An .npy as its array, anything else as raw bytes."""
    try:
        if path.lower().endswith(".npy"):
            return np.ascontiguousarray(np.load(path, allow_pickle=False))
        return np.fromfile(path, np.int8)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"cannot read the input '{path}': {error}") from error


def pure_input(kind, size):
    """Generated data: zeros or random bytes."""
    if kind == PURE_RANDOM:
        return np.random.default_rng().integers(0, 255, size, np.uint8)
    return np.zeros(size, np.uint8)


@stage("read")
def _read(session, files, pure):
    if pure:
        return [pure_input(os.path.basename(name).rsplit("_", 1)[0]
                           if name[-1].isdigit() else name, desc.realsize)
                for name, desc in zip(files, session.get_inputs())]
    return [read_input(name) for name in files]


def _stem(folder, files, index):
    name = os.path.basename(files[0])
    for suffix in _CUT:
        if name.endswith(suffix):
            name = name[:-len(suffix)]
            break
    return os.path.join(folder, f"{name}_{index}")


@stage("write")
def _write(options, groups, results):
    if not options.output_dir:
        return
    for files, arrays in zip(groups, results):
        for index, array in enumerate(arrays):
            write_array(_stem(options.output_dir, files, index), array, options.out_format)


def _items(session, options, groups, all_feeds):
    names = [desc.name for desc in session.get_inputs()]
    for files, feeds in zip(groups, all_feeds):
        if options.auto_dym_shape or options.auto_dym_dims:
            text = shapes_text(names, [feed.shape for feed in feeds])
            (session.set_dynamic_shape if options.auto_dym_shape else
             session.set_dynamic_dims)(text)
        if len(feeds) != len(names):
            raise RuntimeError(f"{len(feeds)} files {list(files)} for a model with {len(names)} "
                               "inputs; give one for each")
        yield feeds, session._shapes


def _run_session(session, work, options):
    parts = [work[i:i + _TOGETHER] for i in range(0, len(work), _TOGETHER)]
    wanted = [session._output_index[name] for name in options.output_names]

    def read(part):
        return [_read(session, files, options.pure_infer_mode) for files in part]

    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(1) as writer:
        ahead = reader.submit(read, parts[0]) if parts else None
        written = None
        for i, part in enumerate(parts):
            feeds = ahead.result()
            if i + 1 < len(parts):
                ahead = reader.submit(read, parts[i + 1])
            outputs = session._pipeline(list(_items(session, options, part, feeds)))
            results = [[np.asarray(row[k]) for k in wanted] for row in outputs]
            if written is not None:
                written.result()
            written = writer.submit(_write, options, part, results)
        if written is not None:
            written.result()


def run_files(session, file_lists, options, more_sessions):
    """Work item i goes to session i mod n; all times are added to the first session's summary."""
    if options.output_dir:
        make_folder(options.output_dir)
    work = [[str(name) for name in files] for files in file_lists]
    sessions = [session, *more_sessions]
    if not options.output_names:
        options.output_names = [desc.name for desc in session.get_outputs()]
    with ThreadPoolExecutor(len(sessions)) as pool:
        jobs = [pool.submit(_run_session, one, work[i::len(sessions)], options)
                for i, one in enumerate(sessions)]
        for job in jobs:
            job.result()
    for other in more_sessions:
        session._summary.extend(other._summary)
        other._summary.clear()
    session._summary.sort(key=lambda time: time.start)
