# SPDX-License-Identifier: Apache-2.0
"""Shapes as text: "name1:d,d;name2:d,d". Names may hold colons; the last one ends them."""
LARGEST_EXTENT = 2**31 - 1


def parse_shapes(text, names):
    """The shapes in the order of `names`, each of which has to be there once."""
    shapes = {}
    for part in str(text).split(";"):
        if not part.strip():
            continue
        name, colon, extents = part.strip().rpartition(":")
        try:
            shape = [int(extent) for extent in extents.split(",")]
        except ValueError:
            shape = []
        if not colon or not shape or min(shape) < 0 or max(shape) > LARGEST_EXTENT:
            raise RuntimeError(f"[1004][Invalid parameter] '{part.strip()}' is no shape; write "
                               "name:1,3,224,224 for each input, joined by ;")
        if name in shapes:
            raise RuntimeError(f"[1004][Invalid parameter] input '{name}' has two shapes in "
                               f"'{text}'")
        shapes[name] = shape
    unknown = [name for name in shapes if name not in names]
    missing = [name for name in names if name not in shapes]
    if unknown or missing:
        raise RuntimeError(f"[1004][Invalid parameter] the shapes '{text}' do not name the inputs "
                           f"{', '.join(names)}: unknown {unknown}, missing {missing}")
    return [shapes[name] for name in names]


def shapes_text(names, shapes):
    return ";".join(f"{name}:{','.join(map(str, shape))}" for name, shape in zip(names, shapes))
