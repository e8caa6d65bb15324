# SPDX-License-Identifier: Apache-2.0
"""One device, one process: the session set up from the options, warmed up, run and reported."""
import re

import numpy as np

from aclruntime.shape_text import shapes_text
from aclruntime.stages import stage
from ais_bench.infer import inputs, outputs
from ais_bench.infer.infer_session import InferSession
from ais_bench.infer.logger import logger, set_debug
from ais_bench.infer.memory_summary import MemorySummary
from ais_bench.infer.progress import progress
from ais_bench.infer.summary import Summary


class Benchmark:
    """`position` of `count`: which of several devices this is. `barrier` is called when the model
    is warm, before the measured part."""

    def __init__(self, args, folder, position=0, count=1, summary=None):
        set_debug(args.debug)
        self.args, self.folder = args, folder
        self.position, self.count = position, count
        self.summary = summary or Summary()
        self.session = self._open()
        if args.debug:
            logger.debug("session info:%s", self.session.session)
        self.descs = self.session.get_inputs()
        self.auto = args.auto_set_dymshape_mode or args.auto_set_dymdims_mode
        self._check_gears()
        self._set_shape(self.session)
        self.batchsize = self._batchsize()
        self._set_aipp(self.session)

    def _open(self):
        args = self.args
        return InferSession(args.device, args.model, args.acl_json_path, args.debug, args.loop)

    # -- the session -----------------------------------------------------------------------------

    def _check_gears(self):
        args = self.args
        shape = self.descs[0].shape if self.descs else [1]
        if shape and shape[0] < 0 and not (args.dymBatch or args.dymDims or args.dymShape
                                           or args.dymHW or self.auto):
            raise RuntimeError(f"the first axis of input '{self.descs[0].name}' is open; choose a "
                               "gear or shape with --dymBatch, --dymDims or --dymShape")

    def _set_shape(self, session):
        args = self.args
        if args.dymBatch:
            session.set_dynamic_batchsize(args.dymBatch)
        elif args.dymHW:
            session.set_dynamic_hw(*(int(part) for part in args.dymHW.split(",")))
        elif args.dymDims:
            session.set_dynamic_dims(args.dymDims)
        elif args.dymShape:
            session.set_dynamic_shape(args.dymShape)
        else:
            session.set_staticbatch()
        if args.outputSize:
            session.set_custom_outsize([int(part) for part in args.outputSize.split(",")])

    def _batchsize(self):
        args = self.args
        if args.batchsize:
            return args.batchsize
        shape = self.descs[0].shape if self.descs else []
        batch = shape[0] if shape else 1
        if args.dymBatch:
            batch = args.dymBatch
        elif args.dymDims or args.dymShape:
            found = re.search(re.escape(self.descs[0].name) + r":(\d+)",
                              args.dymDims or args.dymShape)
            batch = int(found.group(1)) if found else batch
        logger.info("try get model batchsize:%d", batch)
        return max(batch, 1)

    def _set_aipp(self, session):
        args = self.args
        if args.dymShape or args.auto_set_dymshape_mode:
            return
        found = session.get_dym_aipp_input_exist()
        if found == 0:
            return
        if found != 1:
            raise RuntimeError(f"the model has {found} inputs with dynamic AIPP; one is supported")
        if args.aipp_config is None:
            raise RuntimeError("the model has a dynamic AIPP input; give its parameters with "
                               "--aipp_config")
        session.check_dym_aipp_input_exist()
        batch = session.get_max_dym_batchsize() if args.dymBatch else self.batchsize
        session.load_aipp_config_file(args.aipp_config, batch)

    # -- the runs --------------------------------------------------------------------------------

    def _runs(self):
        if not self.args.input:
            return inputs.pure_runs(self.descs)
        lists = inputs.files_of_inputs(self.args.input, self.descs)
        if self.args.divide_input and self.count > 1:
            lists = inputs.share_out(lists, self.position, self.count)
            if not lists[0]:
                return []
        if self.auto or self.args.pipeline:
            return inputs.single_runs(lists)
        return inputs.combined_runs(lists, self.descs)

    @stage("read")
    def _load(self, run):
        return [inputs.load(files, desc, self.args.pure_data_type, check=not self.auto)
                for files, desc in zip(run, self.descs)]

    def _set_auto_shape(self, arrays):
        text = shapes_text([desc.name for desc in self.descs], [array.shape for array in arrays])
        if self.args.auto_set_dymshape_mode:
            self.session.set_dynamic_shape(text)
        else:
            self.session.set_dynamic_dims(text)
        self.summary.add_batchsize(arrays[0].shape[0] if arrays[0].ndim else 1)

    def _warm_up(self, runs):
        count = self.args.warmup_count
        if not runs or not count:
            return
        arrays = self._load(runs[0])
        if self.auto:
            self._set_auto_shape(arrays)
        for session in self._sessions():
            session.set_loop_count(1)
            for _ in range(count):
                session.run(arrays, out_array=True)
            session.set_loop_count(self.args.loop)
        logger.info("warm up %d done", count)

    def _reset(self):
        for session in self._sessions():
            session.reset_summaryinfo()
        self.summary.reset()
        MemorySummary.reset()

    def _sessions(self):
        return [self.session]

    def run(self, barrier=lambda: None):
        runs = self._runs()
        self._warm_up(runs)
        self._reset()
        barrier()
        self._run_all(runs)
        return self._report()

    def _run_all(self, runs):
        mode = self.args.run_mode
        if mode == "full":
            self._run_full(runs)
            return
        sample = 0
        for run in progress(runs, f"Inference {mode} Processing"):
            sample = self._save(run, self._run_one(run, mode), sample)

    def _tensors(self, run, mode):
        if mode == "files":
            return [self._tensor_of_files(files, desc) for files, desc in zip(run, self.descs)]
        arrays = self._load(run)
        if self.auto:
            self._set_auto_shape(arrays)
        if mode == "array":
            return arrays
        return [self.session.create_tensor_from_arrays_to_device(array) for array in arrays]

    def _tensor_of_files(self, files, desc):
        files = [files[0] if name == inputs.PADDING else name for name in files]
        if not files or any(name.lower().endswith(".npy") for name in files):
            raise RuntimeError("--run_mode files reads raw files; .npy and made-up data need "
                               "--run_mode array, tensor or full")
        return self.session.create_tensor_from_fileslist(desc, files)

    def _run_one(self, run, mode):
        return self.session.run(self._tensors(run, mode), out_array=True)

    def _run_full(self, runs):
        """All inputs to the device, all runs, then all results."""
        ready = [self._tensors(run, "tensor") for run in runs]
        results = []
        for tensors in progress(ready, "Inference Processing full"):
            if self.auto:
                self._set_auto_shape([np.empty(tensor.shape, np.uint8) for tensor in tensors])
            results.append(self.session.run(tensors))
        sample = 0
        for run, tensors in zip(runs, results):
            self.session.convert_tensors_to_host(tensors)
            sample = self._save(run, self.session.convert_tensors_to_arrays(tensors), sample)

    @stage("write")
    def _save(self, run, arrays, sample):
        if self.folder is None:
            return sample
        return outputs.save(self.folder, run, arrays, self.args.outfmt,
                            self.args.output_batchsize_axis, self.summary, sample)

    # -- the end ---------------------------------------------------------------------------------

    def _report(self):
        times = self.session.summary().exec_time_list
        self.summary.npu_compute_time_list = [float(time) for time in times]
        self.summary.npu_compute_time_interval_list = [tuple(time) for time in times]
        self.summary.h2d_latency_list = MemorySummary.get_h2d_time_list()
        self.summary.d2h_latency_list = MemorySummary.get_d2h_time_list()
        self.summary.report(self.batchsize, self.folder, self.args.display_all_summary,
                            self.args.pipeline and self.args.threads > 1)
        return self.summary.infodict["throughput"]

    def close(self):
        for session in self._sessions():
            session.free_resource()


class PipelineBenchmark(Benchmark):
    """--pipeline: copies beside computation in as many sessions as --threads says."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.extra = [self._open() for _ in range(self.args.threads - 1)]
        for session in self.extra:
            self._set_shape(session)
            self._set_aipp(session)
        logger.info("run in pipeline mode with computing threadsnumber:%d", self.args.threads)

    def _sessions(self):
        return [self.session, *self.extra]

    def _runs(self):
        runs = super()._runs()
        for run in runs if self.args.input and not self.auto else []:
            for (name,), desc in zip(run, self.descs):
                size = inputs.read_input(name).nbytes
                if desc.realsize and size != desc.realsize:
                    raise RuntimeError(f"'{name}' has {size} bytes, input '{desc.name}' needs "
                                       f"{desc.realsize}; the pipeline runs one file at a time")
        return runs

    def _run_all(self, runs):
        pure = not self.args.input
        if pure:
            files = inputs.pure_names(len(self.descs), self.args.pure_data_type)
            work = [[f"{name}_{i}" for name in row] for i, row in enumerate(files)]
        else:
            work = [[name for (name,) in run] for run in runs]
        self.session.run_pipeline(work, self.folder or "", self.args.auto_set_dymshape_mode,
                                  self.args.auto_set_dymdims_mode, self.args.outfmt, pure,
                                  self.extra)
        if self.auto:
            for run in runs:
                shape = inputs.read_input(run[0][0]).shape
                self.summary.add_batchsize(shape[0] if shape else 1)


def benchmark(args, folder, **more):
    return (PipelineBenchmark if args.pipeline else Benchmark)(args, folder, **more)


def run_single(args):
    from ais_bench.infer.summary import summary
    summary.__init__()  # of an earlier run in this process
    made = benchmark(args, outputs.output_folder(args), summary=summary)
    made.run()
    made.close()
    InferSession.finalize()
    return 0
