# SPDX-License-Identifier: Apache-2.0
"""The five modes of a model: how the shapes of the feeds pick a gear or a shape."""
from aclruntime.shape_text import shapes_text
from ais_bench.infer.checks import BadType, BadValue

MOST_SIZES = 256
LARGEST_SIZE = 16 << 30


def _check_count(session, shapes):
    if len(shapes) != len(session.intensors_desc):
        raise RuntimeError(f"input datas and intensors nums not matched! {len(shapes)} were given, "
                           f"the model has {len(session.intensors_desc)}")


def static(session, shapes, custom_sizes):
    session.set_staticbatch()


def batch_of(descs, shapes):
    """The batch that shapes pick: what stands at the first open axis of the inputs."""
    for i, (desc, shape) in enumerate(zip(descs, shapes)):
        for axis, extent in enumerate(desc.shape):
            if axis >= len(shape):
                raise RuntimeError(f"input {i} ({desc.name}) has shape {list(shape)}, the model "
                                   f"{desc.shape}: dim not matched!")
            if extent < 0:
                return shape[axis]
            if extent != shape[axis]:
                raise RuntimeError(f"input {i} ({desc.name}) has shape {list(shape)}, the model "
                                   f"{desc.shape}: axis {axis} dim not matched!")
    raise RuntimeError("not a dymbatch model! No input has an open axis; use mode 'static'")


def image_of(descs, shapes):
    """(height, width) that shapes pick: the open axes of the first input that has two."""
    for desc, shape in zip(descs, shapes):
        open_axes = [axis for axis, extent in enumerate(desc.shape) if extent < 0]
        if len(open_axes) == 2 and max(open_axes) < len(shape):
            return tuple(shape[axis] for axis in open_axes)
    raise RuntimeError("not a dymhw model! No input has an open height and width of its data")


def dymbatch(session, shapes, custom_sizes):
    _check_count(session, shapes)
    session.set_dynamic_batchsize(batch_of(session.intensors_desc, shapes))


def dymhw(session, shapes, custom_sizes):
    _check_count(session, shapes)
    session.set_dynamic_hw(*image_of(session.intensors_desc, shapes))


def dymdims(session, shapes, custom_sizes):
    _check_count(session, shapes)
    session.set_dynamic_dims(_text(session, shapes))


def dymshape(session, shapes, custom_sizes):
    _check_count(session, shapes)
    session.set_dynamic_shape(_text(session, shapes))
    session.set_custom_outsize(output_sizes(custom_sizes, len(session.outtensors_desc)))


def _text(session, shapes):
    return shapes_text([desc.name for desc in session.intensors_desc], shapes)


def output_sizes(custom_sizes, count):
    """The bytes of each output, from one int for all or a list."""
    wanted = "give the bytes of every output as one int or a list of ints"
    if isinstance(custom_sizes, bool) or not isinstance(custom_sizes, (int, list, tuple)):
        failure = BadValue if custom_sizes is None else BadType
        raise failure(f"custom_sizes:{type(custom_sizes)} invalid; {wanted}")
    sizes = [custom_sizes] * count if isinstance(custom_sizes, int) else list(custom_sizes)
    if not isinstance(custom_sizes, int) and not 1 <= len(sizes) <= MOST_SIZES:
        raise BadValue(f"custom_sizes has {len(sizes)} entries, 1 to {MOST_SIZES} are allowed; "
                       f"{wanted}")
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int):
            raise BadType(f"custom_sizes:{custom_sizes} invalid ({type(size).__name__}); {wanted}")
        if not 1 <= size <= LARGEST_SIZE:
            raise BadValue(f"custom_sizes:{custom_sizes} invalid; an output has 1 to "
                           f"{LARGEST_SIZE} bytes")
    return sizes[:count]


SWITCH = {"static": static, "dymbatch": dymbatch, "dymhw": dymhw, "dymdims": dymdims,
          "dymshape": dymshape}


def prepare(session, mode, shapes, custom_sizes):
    """Sets the session up for feeds of these shapes."""
    setter = SWITCH.get(mode) if isinstance(mode, str) else None
    if setter is None:
        raise BadValue(f"wrong infer_mode:{mode}, only support {', '.join(SWITCH)}")
    setter(session, shapes, custom_sizes)
