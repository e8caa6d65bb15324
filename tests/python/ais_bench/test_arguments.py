# SPDX-License-Identifier: Apache-2.0
"""Arguments that are not allowed: the type of the error that scripts catch (versions of the
interface differ, so some are of two types), a sentence, and a session that stays usable."""
import os

import numpy as np
import pytest
from om_models import image

import aclruntime
from ais_bench.infer.interface import InferSession

GIB = 1 << 30


def refused(call, sentence, *kinds):
    """The call raises one error that is of every kind in `kinds`."""
    with pytest.raises(kinds[0], match=sentence) as caught:
        call()
    assert all(isinstance(caught.value, kind) for kind in kinds), type(caught.value).__mro__


@pytest.mark.parametrize("value", [1, 0, None, "True", np.bool_(True)])
def test_out_array_is_a_bool(make, value):
    session, x = make("fixed"), image(1, 3, 8, 8)
    refused(lambda: session.infer([x], out_array=value), "out_array is a bool, not", TypeError,
            RuntimeError)
    assert len(session.infer([x], out_array=True)) == 2


@pytest.mark.parametrize("feeds, sentence", [
    (None, "feeds is a list .*, not NoneType"), ({}, "not dict"), (image(1), "not ndarray"),
    ([], "0 inputs were given, the model has 1"),
    ([image(1)] * 1025, "feeds has 1025 entries, at most 1024"),
])
def test_feeds_are_a_list_of_at_most_1024(make, feeds, sentence):
    session, x = make("fixed"), image(1, 3, 8, 8)
    for call in (lambda: session.infer(feeds), lambda: session.infer_pipeline([[x], feeds]),
                 lambda: session.infer_iteration(feeds, [-1], 2)):
        refused(call, sentence, ValueError, RuntimeError)
    assert len(session.infer([x])) == 2


@pytest.mark.parametrize("feeds_list", [None, image(2, 3), {0: [image(1)]}, "text"])
def test_a_pipeline_takes_a_list_of_feeds(make, feeds_list):
    refused(lambda: make("fixed").infer_pipeline(feeds_list), "feeds_list is a list of feeds",
            ValueError, RuntimeError)


def test_a_pipeline_of_nothing_gives_nothing(make):
    assert make("fixed").infer_pipeline([]) == []


@pytest.mark.parametrize("sizes, sentence, kind", [
    (None, "NoneType", ValueError), ("100", "str", TypeError), ({}, "dict", TypeError),
    (True, "bool", TypeError), (1.5, "float", TypeError), ([1.5, 100], "float", TypeError),
    ([True, 100], "bool", TypeError), (0, "1 to 17179869184 bytes", ValueError),
    (-1, "1 to 17179869184 bytes", ValueError), (16 * GIB + 1, "1 to 17179869184", ValueError),
    ([100, 1 << 70], "1 to 17179869184 bytes", ValueError), ([], "0 entries, 1 to 256", ValueError),
    ([100] * 257, "257 entries, 1 to 256", ValueError),
])
def test_custom_sizes_are_ints_from_1_byte_to_16_gib(make, sizes, sentence, kind):
    session, x = make("range"), image(2, 3, 8, 8)
    refused(lambda: session.infer([x], "dymshape", sizes), f"custom_sizes.*{sentence}", kind,
            RuntimeError)
    assert len(session.infer([x], "dymshape")) == 2


def test_custom_sizes_do_not_matter_in_other_modes(make):
    session, x = make("fixed"), image(1, 3, 8, 8)
    for sizes in (None, 0, []):
        assert len(session.infer([x], "static", sizes)) == 2


@pytest.mark.parametrize("entries, kind", [
    (5, TypeError), ("ab", TypeError), (["0"], TypeError), ([1.0], TypeError), ([2], IndexError),
    ([-2], IndexError), ([], RuntimeError), ([0, 0], RuntimeError),
])
def test_in_out_list_names_an_output_for_every_input(make, entries, kind):
    refused(lambda: make("fixed").infer_iteration([image(1, 3, 8, 8)], entries, 2), "in_out_list",
            kind)


@pytest.mark.parametrize("times, kind", [(0, ValueError), (65537, ValueError), ("2", TypeError),
                                         (2.0, TypeError), (True, TypeError)])
def test_iteration_times_are_from_1_to_65536(make, times, kind):
    refused(lambda: make("fixed").infer_iteration([image(1, 3, 8, 8)], [-1], times),
            "iteration_times is", kind)


@pytest.mark.parametrize("options, sentence, kinds", [
    ({"device_id": -1}, "device_id is -1, .* 0 to 255", (ValueError, RuntimeError)),
    ({"device_id": 256}, "device_id is 256", (ValueError, RuntimeError)),
    ({"device_id": "0"}, "device_id is an int, not str", (TypeError,)),
    ({"loop": 0}, "loop is 0, .* 1 to 100000", (ValueError, RuntimeError)),
    ({"loop": 100001}, "loop is 100001", (ValueError, RuntimeError)),
    ({"loop": "1"}, "loop is an int, not str", (TypeError,)),
    ({"model_path": ""}, "model_path is empty", (RuntimeError,)),
    ({"model_path": None}, "model_path is the path of a file, not NoneType", (TypeError,)),
    ({"model_path": "none.om"}, r"\[1\]\[ACL: invalid parameter\] model_path 'none.om' does not "
                                "exist", (ValueError, RuntimeError)),
    ({"model_path": os.sep}, "model_path '/' is no file", (ValueError, RuntimeError)),
    ({"acl_json_path": "none.json"}, "acl_json_path 'none.json' does not exist",
     (ValueError, RuntimeError)),
])
def test_a_session_says_which_argument_is_wrong(models, options, sentence, kinds):
    arguments = {"device_id": 0, "model_path": models("fixed"), **options}
    refused(lambda: InferSession(**arguments), sentence, *kinds)


def test_a_batch_may_be_given_in_digits(make):
    session = make("batch")
    session.set_dynamic_batchsize("2")
    assert session.get_inputs()[0].realsize == 2 * 3 * 8 * 8 * 4
    refused(lambda: session.set_dynamic_batchsize("two"), "the batch is a number, not 'two'",
            ValueError, RuntimeError)


@pytest.mark.parametrize("name, value, kind", [
    ("loop", 0, RuntimeError), ("loop", -1, RuntimeError), ("loop", 100001, RuntimeError),
    ("loop", "1", TypeError), ("loop", None, TypeError), ("log_level", 0, RuntimeError),
    ("log_level", 5, RuntimeError), ("log_level", "2", TypeError),
    ("acl_json_path", None, TypeError),
])
def test_session_options_have_limits(name, value, kind):
    options = aclruntime.session_options()
    before = getattr(options, name)
    refused(lambda: setattr(options, name, value), f"{name} is", kind)
    assert getattr(options, name) == before


@pytest.mark.parametrize("call, sentence, kind", [
    (lambda s: s.set_custom_outsize([16 * GIB + 1]), "it must be from 0 to 17179869184",
     RuntimeError),
    (lambda s: s.set_custom_outsize([-1]), "an output size is -1", RuntimeError),
    (lambda s: s.set_custom_outsize([1] * 257), "257 output sizes", RuntimeError),
    (lambda s: s.set_custom_outsize(5), "a list of ints, not int", TypeError),
    (lambda s: s.set_custom_outsize(["7"]), "an int, not str", TypeError),
    (lambda s: s.set_dynamic_hw("8", 8), "the height is an int, not str", TypeError),
    (lambda s: s.set_dynamic_shape("image:1,3,8,99999999999999999999"), "is no shape",
     RuntimeError),
    (lambda s: s.set_dynamic_shape("image:1,3,8,-8"), "is no shape", RuntimeError),
    (lambda s: s.set_dynamic_shape("image:1,3,8,8.5"), "is no shape", RuntimeError),
])
def test_setters_say_what_they_take(make, call, sentence, kind):
    session = make("range")
    refused(lambda: call(session), sentence, kind)
    assert len(session.infer([image(1, 3, 8, 8)], "dymshape")) == 2
