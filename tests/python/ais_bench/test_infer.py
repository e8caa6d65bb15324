# SPDX-License-Identifier: Apache-2.0
"""InferSession.infer in its five modes, against the onnx package's reference."""
import numpy as np
import pytest
from om_models import assert_close, image

import aclruntime
from ais_bench.infer.interface import InferSession


def test_a_static_model_gives_the_results_of_the_reference(make, models):
    x = image(1, 3, 8, 8)
    assert_close(make("fixed").infer([x]), models.expect("fixed", image=x))


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_dymbatch_takes_the_batch_from_the_feeds(make, models, batch):
    x = image(batch, 3, 8, 8)
    assert_close(make("batch").infer([x], mode="dymbatch"), models.expect("batch", image=x))


@pytest.mark.parametrize("size", [(8, 8), (16, 12), (4, 6)])
def test_dymhw_takes_height_and_width_from_the_feeds(make, models, size):
    x = image(2, 3, *size)
    assert_close(make("image").infer([x], "dymhw"), models.expect("image", image=x))


@pytest.mark.parametrize("rows, columns", [(2, 3), (5, 4), (1, 7)])
def test_dymdims_takes_all_axes_from_the_feeds(make, rows, columns):
    a, b = image(rows, columns), image(columns)
    (y,) = make("dims").infer([a, b], "dymdims")
    np.testing.assert_array_equal(y, a + b)


@pytest.mark.parametrize("shape", [(1, 3, 8, 8), (8, 3, 40, 1), (3, 3, 4, 20)])
def test_dymshape_takes_any_shape_of_the_range(make, models, shape):
    x = image(*shape)
    assert_close(make("range").infer([x], "dymshape", custom_sizes=1 << 20),
                 models.expect("range", image=x))


def test_one_session_changes_its_shape_with_every_call(make, models):
    session = make("batch")
    for batch in (4, 1, 2, 4, 1):
        x = image(batch, 3, 8, 8)
        assert_close(session.infer([x], "dymbatch"), models.expect("batch", image=x))


def test_custom_sizes_are_one_number_or_one_for_each_output(make):
    session, x = make("range"), image(2, 3, 8, 8)
    first = session.infer([x], "dymshape", 10000)
    second = session.infer([x], "dymshape", [2 * 5 * 4, 2 * 4 * 8 * 8 * 4])
    large = session.infer([x], "dymshape", custom_sizes=1000000000)
    for other in (second, large):
        assert all(np.array_equal(a, b) for a, b in zip(first, other))


def test_custom_sizes_that_are_too_small_name_the_output(make, models):
    session, x = make("range"), image(2, 3, 8, 8)
    with pytest.raises(RuntimeError, match=r"output 1 \('relu:0:r'\).*100 bytes.*needs 2048"):
        session.infer([x], "dymshape", custom_sizes=100)
    assert_close(session.infer([x], "dymshape"), models.expect("range", image=x))


def test_out_array_false_leaves_the_outputs_on_the_device(make):
    session, x = make("fixed"), image(1, 3, 8, 8)
    arrays = session.infer([x])
    tensors = session.infer([x], out_array=False)
    session.infer([x + 1])  # does not write into memory that a tensor holds
    for tensor, array in zip(tensors, arrays):
        assert isinstance(tensor, aclruntime.Tensor)
        assert tensor.device == 0 and tensor.type == aclruntime.memory_device
        with pytest.raises(RuntimeError, match="tensor is in npu"):
            np.array(tensor)
        tensor.to_host()
        np.testing.assert_array_equal(np.array(tensor), array)


def test_two_models_in_one_process_do_not_disturb_each_other(make, models):
    one, two, x = make("fixed"), make("step"), image(1, 3, 8, 8)
    a, b = image(4, 8), image(4, 8) + 1
    for _ in range(3):
        assert_close(one.infer([x]), models.expect("fixed", image=x))
        np.testing.assert_array_equal(two.infer([a, b])[0], a + b)


def test_all_eight_devices_give_the_same_bytes(make):
    x = image(1, 3, 8, 8)
    first, *others = [make("fixed", device_id=device).infer([x]) for device in range(8)]
    assert all(a.tobytes() == b.tobytes() for other in others for a, b in zip(first, other))


def test_a_session_can_be_made_again_after_finalize(models):
    x = image(1, 3, 8, 8)
    first = InferSession(0, models("fixed")).infer([x])
    InferSession.finalize()
    session = InferSession(0, models("fixed"))
    np.testing.assert_array_equal(session.infer([x])[0], first[0])
    session.free_resource()
    with pytest.raises(RuntimeError, match="was freed"):
        session.infer([x])
