# SPDX-License-Identifier: Apache-2.0
"""Bad input of every kind: an error that names what and where, and a session that goes on: every
way of running gives the bytes it gave before."""
import os
import signal

import numpy as np
import pytest
from om_models import image

import aclruntime
from ais_bench.infer.interface import InferSession, MultiDeviceSession

STEP = [image(4, 8), image(4, 8) * 2]
GOOD = {"step": ("static", STEP), "batch": ("dymbatch", [image(2, 3, 8, 8)]),
        "image": ("dymhw", [image(2, 3, 4, 6)]), "dims": ("dymdims", [image(2, 3), image(3)]),
        "range": ("dymshape", [image(2, 3, 8, 8)])}


def every_way(session, name):
    """The bytes of the results of each way of running."""
    mode, feeds = GOOD[name]
    results = [session.infer(feeds, mode), *session.infer_pipeline([feeds] * 3, mode),
               session.infer_iteration(feeds, None, 3, mode)]
    session.infer(feeds, mode, out_array=False)
    results.append(session.run(feeds, out_array=True))
    return [array.tobytes() for arrays in results for array in arrays]


def infer(*feeds, mode="static", sizes=100000):
    return lambda session: session.infer(list(feeds), mode, sizes)


A = STEP[0]


@pytest.mark.parametrize("name, bad, sentence", [
    # wrong number, size, type of feeds
    ("step", infer(), "0 inputs were given, the model has 2"),
    ("step", infer(A), "1 inputs were given, the model has 2"),
    ("step", infer(A, A, A), "3 inputs were given, the model has 2"),
    ("batch", infer(A, A, mode="dymbatch"), "2 were given, the model has 1"),
    ("step", infer(A, image(4, 7)), r"input 1 \('b'\) was given 112 bytes, the model needs 128"),
    ("step", infer(A.astype("f8"), A), r"input 0 \('a'\) was given 256 bytes, the model needs 128"),
    ("step", infer(A, A.tolist()), "type:<class 'list'> invalid"),
    ("step", infer(A, None), "type:<class 'NoneType'> invalid"),
    ("step", infer(A, np.array([object()])), "object elements are no plain bytes"),
    ("step", lambda s: s.infer(A), "feeds is a list .*, not ndarray"),
    ("step", lambda s: s.infer_pipeline([STEP, [A]]), "feeds 1: 1 inputs were given"),
    ("step", lambda s: s.infer_pipeline([STEP, [A, image(3)]]), "feeds 1: input 1 .*12 bytes"),
    ("step", lambda s: s.infer_iteration([A, image(3)], [1, 0], 2), r"input 1 \('b'\) .*12 bytes"),
    ("step", lambda s: s.infer_iteration(STEP, [1, 5], 2), "names output 5, the model has 2"),
    ("step", lambda s: s.infer_iteration(STEP, [0], 2), "has 1 entries, the model has 2 inputs"),
    ("batch", lambda s: s.infer_iteration(*GOOD["batch"][1:], [0], 2, "dymbatch"),
     r"output 0 \('fc:0:logits'\) has 40 bytes, input 0 \('image'\) needs 1536"),
    ("step", lambda s: s.run([A]), "1 inputs were given, the model has 2"),
    # unknown mode
    ("step", infer(*STEP, mode="dynamic"), "wrong infer_mode:dynamic, only support static, dym"),
    ("step", lambda s: s.infer_pipeline([STEP], "dynamic"), "wrong infer_mode:dynamic"),
    ("step", lambda s: s.infer_iteration(STEP, [1, 0], 2, "dynamic"), "wrong infer_mode:dynamic"),
    # a gear or shape that is not in the model
    ("batch", infer(image(3, 3, 8, 8), mode="dymbatch"), r"3 is no batch gear .* are \[1, 4, 2\]"),
    ("batch", lambda s: s.set_dynamic_batchsize(3), "3 is no batch gear"),
    ("image", infer(image(2, 3, 9, 9), mode="dymhw"), "9,9 is no image gear"),
    ("dims", infer(image(2, 2), image(2), mode="dymdims"), "no dims gear"),
    ("range", infer(image(9, 3, 8, 8), mode="dymshape"), r"was compiled for \[1~8"),
    ("range", infer(image(1, 3, 8, 8)), "768 bytes, the model needs 1536; check .* the mode"),
    ("step", infer(*STEP, mode="dymbatch"), "not a dymbatch model!"),
    ("step", infer(*STEP, mode="dymhw"), "not a dymhw model!"),
    # custom_sizes too small
    ("range", infer(image(2, 3, 8, 8), mode="dymshape", sizes=100), "100 bytes.*needs 2048"),
    ("range", infer(image(2, 3, 8, 8), mode="dymshape", sizes=[4, 2048]), "4 bytes.*needs 40"),
    ("range", lambda s: s.infer_pipeline([GOOD["range"][1]] * 3, "dymshape", 100),
     "feeds 0: .*100 bytes.*needs 2048"),
    ("range", lambda s: s.infer_iteration(GOOD["range"][1], None, 3, "dymshape", 100),
     "100 bytes.*needs 2048"),
])
def test_a_bad_call_is_named_and_the_session_goes_on(make, name, bad, sentence):
    session = make(name)
    want = every_way(session, name)
    with pytest.raises((RuntimeError, IndexError), match=sentence):
        bad(session)
    assert every_way(session, name) == want


def test_a_tensor_of_another_device_is_named_and_both_sessions_go_on(make):
    here, there = make("step"), make("step", device_id=1)
    want = every_way(here, "step")
    tensor = here.create_tensor_from_arrays_to_device(A)
    with pytest.raises(RuntimeError, match=r"input 1 \('b'\) is a tensor on device 0, the session "
                                           "is on device 1"):
        there.infer([A, tensor])
    with pytest.raises(RuntimeError, match="no session is open on device 6"):
        aclruntime.Tensor(A).to_device(6)
    assert every_way(here, "step") == every_way(there, "step") == want


def test_a_session_that_cannot_be_made_leaves_the_others_alone(make, models, tmp_path):
    (tmp_path / "bad.om").write_bytes(b"not a model")
    session = make("step")
    want = every_way(session, "step")
    for arguments, sentence in [
        ((0, f"{tmp_path}/none.om"), "model_path '.*none.om' does not exist"),
        ((0, f"{tmp_path}/bad.om"), r"\[1\]\[ACL: invalid parameter\] .*bad.om"),
        ((0, str(tmp_path)), "is no file"),
        ((100, models("step")), "device 100 does not exist"),
        ((256, models("step")), "device_id is 256, it must be from 0 to 255"),
        ((0, models("step"), f"{tmp_path}/none.json"), "acl_json_path '.*none.json' does not"),
    ]:
        with pytest.raises(RuntimeError, match=sentence):
            InferSession(*arguments)
        assert every_way(session, "step") == want


def test_several_devices_go_on_after_bad_input_and_a_killed_child(make, models):
    want = [array.tobytes() for array in make("step").infer(STEP)]
    session = MultiDeviceSession(models("step"))

    def answers():
        got = session.infer({0: [STEP], 1: [STEP]})
        return [[array.tobytes() for array in got[device][0]] for device in (0, 1)]

    assert answers() == [want, want]
    for feeds, mode, sentence in [
        ({0: [STEP], 1: [[A]]}, "static", "device 1, feeds 0.*1 inputs were given, the model has"),
        ({0: [STEP], 1: [[A, image(3)]]}, "static", r"device 1.*input 1 \('b'\) was given 12"),
        ({0: [STEP], 1: [[A, "text"]]}, "static", "device 1.*type:<class 'str'> invalid"),
        ({0: [STEP]}, "dynamic", "device 0.*wrong infer_mode:dynamic"),
        ({0: [STEP], 99: [STEP]}, "static", "device 99 does not exist"),
    ]:
        with pytest.raises(RuntimeError, match=f"(?s){sentence}"):
            session.infer(feeds, mode)
        assert answers() == [want, want]
    os.kill(session._workers[1, 0].pid, signal.SIGKILL)
    session._workers[1, 0]._process.wait()
    assert answers() == [want, want]
    session.close()
