# SPDX-License-Identifier: Apache-2.0
"""InferenceSession: a model on a device. Names, gears and shapes are handled here; the extension
copies and executes."""
import math
import os

from aclruntime import _aclruntime
from aclruntime.enums import dtype
from aclruntime.file_pipeline import run_files
from aclruntime.options import BaseTensor, refuse, session_options, tensor_desc, whole
from aclruntime.session_aipp import AippSettings
from aclruntime.shape_text import parse_shapes, shapes_text
from aclruntime.times import sumary

_FIXED, _BATCH, _IMAGE, _DIMS, _RANGES = range(5)
_MOST_SIZES, _LARGEST_SIZE = 256, 16 << 30  # of outputs


def _desc(name, datatype, form, shape, size):
    try:
        datatype = dtype(datatype)
    except ValueError:
        pass  # a type without a name here keeps its number
    return tensor_desc(name, datatype, form, shape, size, size)


class InferenceSession(AippSettings):
    def __init__(self, model_path, device_id, options, /):
        if not isinstance(options, session_options):
            raise TypeError(f"options is a session_options, not {type(options).__name__}")
        device_id = whole("device_id", device_id)
        self._options = options
        self._device = device_id
        self._summary = sumary()
        _aclruntime.set_log_level(int(options.log_level))
        config = os.path.abspath(options.acl_json_path) if options.acl_json_path else ""
        path = os.fspath(model_path)
        self._native = _aclruntime.Session(os.path.abspath(path), path, device_id, config)
        (inputs, outputs, self._batches, self._images, self._dims,
         self._aipp_count) = self._native.describe()
        self._inputs = [_desc(*row) for row in inputs]
        self._outputs = [_desc(*row) for row in outputs]
        self._output_index = {desc.name: i for i, desc in enumerate(self._outputs)}
        self._out_sizes = []
        AippSettings.__init__(self)
        self._shapes = None
        self.set_staticbatch()

    # -- what the model is -----------------------------------------------------------------------

    def options(self):
        return self._options

    def get_inputs(self):
        return list(self._inputs)

    def get_outputs(self):
        return list(self._outputs)

    def get_max_dym_batchsize(self):
        return max(self._batches, default=0)

    def __repr__(self):
        def rows(title, descs):
            yield f"{title}:"
            for i, desc in enumerate(descs):
                yield (f"  #{i}    {desc.name}  ({', '.join(map(str, desc.shape))})  "
                       f"{getattr(desc.datatype, 'name', desc.datatype)}  {desc.size}  "
                       f"{desc.realsize}")

        return "\n".join(["<Model>", f"device:\t{self._device}", *rows("input", self._inputs),
                          *rows("output", self._outputs)])

    # -- what the next runs use ------------------------------------------------------------------

    def _choose(self, kind, gear, shapes):
        """Makes `shapes` (None: as they are) the shapes of the next runs."""
        if shapes is not None:
            for desc, shape in zip(self._inputs, shapes):
                desc.realsize = self._bytes(desc, shape)
        chosen = (kind, gear, shapes if kind == _RANGES else [],
                  [desc.realsize for desc in self._inputs])
        if chosen != self._shapes:
            self._native.set_shapes(*chosen)
            self._shapes = chosen
        return 0

    @staticmethod
    def _bytes(desc, shape):
        return math.prod(shape) * getattr(desc.datatype, "itemsize", 1)

    def _with_open_axes(self, *values):
        """The shapes of all inputs with their dynamic axes filled in, in order."""
        shapes = []
        for desc in self._inputs:
            rest = iter(values)
            shapes.append([extent if extent >= 0 else next(rest, extent) for extent in desc.shape])
        return shapes

    def set_staticbatch(self):
        return self._choose(_FIXED, [], None)

    def set_dynamic_batchsize(self, batchsize):
        batchsize = whole("the batch", batchsize)
        if batchsize not in self._batches:
            refuse(f"{batchsize} is no batch gear of the model; its gears are "
                    f"{self._batches or 'none'}")
        return self._choose(_BATCH, [batchsize], self._with_open_axes(batchsize))

    def set_dynamic_hw(self, height, width):
        gear = [whole("the height", height), whole("the width", width)]
        if gear not in self._images:
            refuse(f"{gear[0]},{gear[1]} is no image gear (height,width) of the model; its gears "
                    f"are {self._images or 'none'}")
        return self._choose(_IMAGE, gear, self._with_open_axes(*gear))

    def set_dynamic_dims(self, text):
        shapes = parse_shapes(text, [desc.name for desc in self._inputs])
        gear = [extent for shape in shapes for extent in shape]
        if gear not in self._dims:
            refuse(f"{text} is no dims gear of the model; its gears (all axes of all inputs) are "
                    f"{self._dims or 'none'}")
        return self._choose(_DIMS, gear, shapes)

    def set_dynamic_shape(self, text):
        return self._choose(_RANGES, [], parse_shapes(text, [d.name for d in self._inputs]))

    def set_custom_outsize(self, sizes):
        if not isinstance(sizes, (list, tuple)):
            raise TypeError(f"output sizes are a list of ints, not {type(sizes).__name__}")
        if len(sizes) > _MOST_SIZES:
            refuse(f"{len(sizes)} output sizes were given, at most {_MOST_SIZES} are allowed")
        sizes = [whole("an output size", size) for size in sizes]
        for size in sizes:
            if not 0 <= size <= _LARGEST_SIZE:
                refuse(f"an output size is {size}, it must be from 0 to {_LARGEST_SIZE} bytes")
        if sizes != self._out_sizes:
            self._native.set_output_sizes(sizes)
            self._out_sizes = sizes
        return 0

    def set_context(self):
        self._native.use()

    # -- runs ------------------------------------------------------------------------------------

    def run(self, names, feeds, /):
        """Outputs of one run, on the device. `feeds`: tensors, a dict of them, or BaseTensors."""
        chosen = self._indices(names)
        outputs = self._run(self._feeds(feeds), False)
        return [outputs[i] for i in chosen]

    def first_inner_run(self, names, feeds, /):
        return self.run(names, feeds)

    def inner_run(self, in_out_list, names, get_outputs, mem_copy, /):
        chosen = self._indices(names)
        outputs = self._run_again(in_out_list, mem_copy, 1, False)
        return [outputs[i] for i in chosen] if get_outputs else []

    def run_pipeline(self, *args):
        """(file lists, infer_options, more sessions): runs over files, writes files.
        (names, list of feeds, list of shapes, auto_shape, auto_dims): host tensors. The shapes of
        one run are a text, or a list with one shape for each input."""
        if len(args) == 3:
            return run_files(self, *args)
        names, feeds_list, shapes, auto_shape, auto_dims = args
        chosen = self._indices(names)
        setter = (self.set_dynamic_shape if auto_shape else
                  self.set_dynamic_dims if auto_dims else None)
        items = []
        for i, feeds in enumerate(feeds_list):
            if setter is not None:
                setter(self._shape_text(shapes, i))
            items.append((self._feeds(feeds), self._shapes))
        return [[outputs[k] for k in chosen] for outputs in self._pipeline(items)]

    def _shape_text(self, shapes, i):
        if i >= len(shapes):
            refuse(f"{len(shapes)} shapes were given, feeds {i} has none; give one for each feeds")
        if isinstance(shapes[i], str):
            return shapes[i]
        if len(shapes[i]) != len(self._inputs):
            refuse(f"the shapes {shapes[i]} are for {len(shapes[i])} inputs, the model has "
                    f"{len(self._inputs)}")
        return shapes_text([desc.name for desc in self._inputs], shapes[i])

    def _run(self, feeds, to_host):
        outputs, times = self._native.run(feeds, self._options.loop, to_host)
        self._summary.add(times)
        return outputs

    def _run_again(self, in_out_list, mem_copy, steps, to_host):
        self._check_feedback(in_out_list)
        outputs, times = self._native.run_again(list(in_out_list), bool(mem_copy), steps,
                                                self._options.loop, to_host)
        self._summary.add(times)
        return outputs

    def _pipeline(self, items):
        outputs, times = self._native.pipeline(items, self._options.loop)
        self._summary.add(times)
        return outputs

    def _check_feedback(self, in_out_list):
        if not isinstance(in_out_list, (list, tuple)):
            raise TypeError(f"in_out_list is a list of ints, not {type(in_out_list).__name__}")
        if len(in_out_list) != len(self._inputs):
            refuse(f"in_out_list {list(in_out_list)} has {len(in_out_list)} entries, the model "
                    f"has {len(self._inputs)} inputs; give an output index or -1 for each")
        for i in in_out_list:
            if not isinstance(i, int):
                raise TypeError(f"in_out_list holds ints, not {type(i).__name__} ({i!r})")
            if not -1 <= i < len(self._outputs):
                raise IndexError(f"in_out_list names output {i}, the model has "
                                 f"{len(self._outputs)}; -1 keeps an input")

    def _indices(self, names):
        if not isinstance(names, (list, tuple)):
            raise TypeError(f"names is a list of output names, not {type(names).__name__}")
        for name in names:
            if name not in self._output_index:
                refuse(f"the model has no output '{name}'; its outputs are "
                        f"{', '.join(self._output_index)}")
        return [self._output_index[name] for name in names]

    def _feeds(self, feeds):
        if isinstance(feeds, dict):
            missing = [d.name for d in self._inputs if d.name not in feeds]
            if missing or len(feeds) != len(self._inputs):
                refuse(f"the feeds name {list(feeds)}, the inputs are "
                        f"{[d.name for d in self._inputs]}")
            feeds = [feeds[desc.name] for desc in self._inputs]
        elif not isinstance(feeds, (list, tuple)):
            raise TypeError(f"feeds is a list or a dict, not {type(feeds).__name__}")
        return [_borrowed(feed) for feed in feeds]

    # -- times and the end -----------------------------------------------------------------------

    def sumary(self):
        return self._summary

    summary = sumary

    def reset_sumaryinfo(self):
        self._summary.clear()

    def create_tensor_from_fileslist(self, desc, files, /):
        """Raw files one after the other as one tensor of the description, on the device."""
        data = bytearray()
        for name in files:
            with open(name, "rb") as file:
                data += file.read()
        if len(data) != desc.realsize:
            refuse(f"the files {list(files)} hold {len(data)} bytes, '{desc.name}' needs "
                    f"{desc.realsize}")
        tensor = _aclruntime.Tensor(memoryview(data))
        tensor.to_device(self._device)
        return tensor

    def free_resource(self):
        self._native.free()

    @staticmethod
    def finalize():
        _aclruntime.finalize()


def _borrowed(feed):
    if isinstance(feed, BaseTensor):
        return (feed.buf, feed.size)
    if isinstance(feed, _aclruntime.Tensor):
        return feed
    raise TypeError(f"an input is a Tensor or a BaseTensor, not {type(feed).__name__}")


def model(modelPath, deviceId=0, options=None):  # noqa: N803  names of the interface
    return InferenceSession(modelPath, deviceId, options or session_options())


def batch(inputs, keep_dims=False):
    """One host tensor of several equal ones: along a new first axis, or along the first axis."""
    import numpy as np
    arrays = [np.asarray(tensor) for tensor in inputs]
    if not arrays:
        refuse("batch needs at least one tensor")
    joined = np.concatenate(arrays) if keep_dims else np.stack(arrays)
    return _aclruntime.Tensor(joined)
