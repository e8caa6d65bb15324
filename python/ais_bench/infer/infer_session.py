# SPDX-License-Identifier: Apache-2.0
"""InferSession: a model on one device, in this process."""
import threading

import numpy as np

import aclruntime
from ais_bench.infer import checks, modes
from ais_bench.infer import feeds as feed_kinds
from ais_bench.infer.aipp_config import load_aipp_config


class InferSession:
    def __init__(self, device_id, model_path, acl_json_path=None, debug=False, loop=1):
        self.device_id = checks.device_id(device_id)
        self.model_path = checks.model_path(model_path)
        self.acl_json_path = checks.acl_json_path(acl_json_path)
        self.loop = checks.loop(loop)
        self.debug = debug
        self.options = aclruntime.session_options()
        self.options.acl_json_path = self.acl_json_path or ""
        self.options.log_level = 1 if debug else 2
        self.options.loop = self.loop
        self.session = aclruntime.InferenceSession(self.model_path, self.device_id, self.options)
        self.intensors_desc = self.session.get_inputs()
        self.outtensors_desc = self.session.get_outputs()
        self.outputs_names = [desc.name for desc in self.outtensors_desc]
        self._turn = threading.RLock()  # a shape holds from its choice to the end of the run
        self.infer_mode_switch = {name: self._setter(name) for name in modes.SWITCH}

    def _setter(self, mode):
        return lambda shapes, custom_sizes: modes.prepare(self, mode, shapes, custom_sizes)

    # -- what the model is -----------------------------------------------------------------------

    def get_inputs(self):
        self.intensors_desc = self.session.get_inputs()
        return self.intensors_desc

    def get_outputs(self):
        self.outtensors_desc = self.session.get_outputs()
        return self.outtensors_desc

    def get_max_dym_batchsize(self):
        return self.session.get_max_dym_batchsize()

    # -- what the next runs use ------------------------------------------------------------------

    def set_loop_count(self, loop):
        self.loop = self.session.options().loop = checks.loop(loop)

    def set_context(self):
        self.session.set_context()

    def set_staticbatch(self):
        self.session.set_staticbatch()

    def set_dynamic_batchsize(self, dym_batch):
        """An int, or its digits."""
        try:
            batch = int(dym_batch)
        except (TypeError, ValueError):
            raise checks.BadValue(f"the batch is a number, not {dym_batch!r}") from None
        self.session.set_dynamic_batchsize(batch)

    def set_dynamic_hw(self, w, h):
        """First the height, then the width: the names are the interface's."""
        self.session.set_dynamic_hw(w, h)

    def set_dynamic_dims(self, dym_dims):
        self.session.set_dynamic_dims(dym_dims)

    def set_dynamic_shape(self, dym_shape):
        self.session.set_dynamic_shape(dym_shape)

    def set_custom_outsize(self, custom_sizes):
        self.session.set_custom_outsize(custom_sizes)

    def get_dym_aipp_input_exist(self):
        return self.session.get_dym_aipp_input_exist()

    def check_dym_aipp_input_exist(self):
        self.session.check_dym_aipp_input_exist()

    def load_aipp_config_file(self, config_file, batchsize):
        return load_aipp_config(self.session, config_file, batchsize)

    # -- tensors ---------------------------------------------------------------------------------

    def create_tensor_from_fileslist(self, desc, files):
        return self.session.create_tensor_from_fileslist(desc, files)

    def create_tensor_from_arrays_to_device(self, arrays):
        tensor = aclruntime.Tensor(feed_kinds.plain_array(np.asarray(arrays)))
        tensor.to_device(self.device_id)
        return tensor

    @staticmethod
    def convert_tensors_to_host(tensors):
        for tensor in tensors:
            tensor.to_host()

    @staticmethod
    def convert_tensors_to_arrays(tensors):
        return [np.array(tensor) for tensor in tensors]

    # -- runs ------------------------------------------------------------------------------------

    def run(self, feeds, out_array=False):
        """Runs in the mode that was set before: arrays, or tensors of the device."""
        if feeds and isinstance(feeds[0], np.ndarray):
            feeds = [feed_kinds.plain_array(feed) for feed in feeds]
        return self._run(feeds, out_array)

    def _run(self, feeds, out_array):
        outputs = self.session._run(feeds, out_array)
        return [np.asarray(tensor) for tensor in outputs] if out_array else outputs

    def _converted(self, feeds):
        """(what the session takes, shapes) of the feeds of one run."""
        converted = feed_kinds.convert_all(feeds)
        if not feeds and self.intensors_desc:
            raise checks.BadValue(f"0 inputs were given, the model has {len(self.intensors_desc)}; "
                                  "give one for each, in order")
        return converted

    def infer(self, feeds, mode="static", custom_sizes=100000, out_array=True):
        """One run. Host arrays, or with out_array=False tensors that stay on the device."""
        arrays, shapes = self._converted(feeds)
        checks.out_array(out_array)
        with self._turn:
            modes.prepare(self, mode, shapes, custom_sizes)
            return self._run(arrays, out_array)

    def infer_pipeline(self, feeds_list, mode="static", custom_sizes=100000):
        """Many runs, copies beside computation; a list of arrays for each feeds, in order."""
        checks.a_list("feeds_list", feeds_list, "of feeds")
        converted = [self._converted(feeds) for feeds in feeds_list]
        with self._turn:
            items = []
            for arrays, shapes in converted:
                modes.prepare(self, mode, shapes, custom_sizes)
                items.append((arrays, self.session._shapes))
            all_outputs = self.session._pipeline(items)
        return [[np.asarray(tensor) for tensor in outputs] for outputs in all_outputs]

    def infer_iteration(self, feeds, in_out_list=None, iteration_times=1, mode="static",
                        custom_sizes=100000, mem_copy=True):
        """Runs again and again: before each run after the first, input i becomes output
        in_out_list[i] of the last, or stays where that is -1. None feeds nothing back."""
        times = checks.iteration_times(iteration_times)
        if in_out_list is None:
            in_out_list = [-1] * len(self.intensors_desc)
        self.session._check_feedback(in_out_list)
        for feed in checks.a_list("feeds", feeds, "with one element for each input of the model"):
            if isinstance(feed, aclruntime.Tensor):
                raise RuntimeError(f"type:{type(feed)} invalid; infer_iteration takes arrays, "
                                   "np.array(tensor) makes one")
        if times == 1:
            return self.infer(feeds, mode, custom_sizes)
        with self._turn:
            self.first_inner_run(feeds, mode, custom_sizes)
            outputs = self.session._run_again(in_out_list, mem_copy, times - 1, True)
        return [np.asarray(tensor) for tensor in outputs]

    def first_inner_run(self, feeds, mode="static", custom_sizes=100000):
        return self.infer(feeds, mode, custom_sizes, out_array=False)

    def inner_run(self, in_out_list, get_outputs=False, mem_copy=True):
        outputs = self.session._run_again(in_out_list, mem_copy, 1, get_outputs)
        return [np.asarray(tensor) for tensor in outputs] if get_outputs else outputs

    def run_pipeline(self, infilelist, output, auto_shape=False, auto_dims=False, outfmt="BIN",
                     pure_infer_mode=False, extra_session=None):
        """Runs over files and writes files: one tuple of input files for each run."""
        options = aclruntime.infer_options()
        options.output_dir = output
        options.auto_dym_shape, options.auto_dym_dims = auto_shape, auto_dims
        options.out_format = outfmt
        options.pure_infer_mode = pure_infer_mode
        options.output_names = self.outputs_names
        self.session.run_pipeline(infilelist, options,
                                  [other.session for other in extra_session or []])

    # -- times and the end -----------------------------------------------------------------------

    def summary(self):
        return self.session.sumary()

    def reset_summaryinfo(self):
        self.session.reset_sumaryinfo()

    def free_resource(self):
        self.session.free_resource()

    @staticmethod
    def finalize():
        aclruntime.InferenceSession.finalize()

    # names of earlier versions
    sumary = summary
    reset_sumaryinfo = reset_summaryinfo
    free_device = free_resource
