# SPDX-License-Identifier: Apache-2.0
"""The recorded cases of TensorFlow's operators are what the installed TensorFlow computes."""
import live
import pytest
import tf_archive


@pytest.mark.parametrize("family", live.families())
def test_the_recorded_results_are_those_of_tensorflow(family):
    cases, problems = live.make_family(family)
    recorded = {case.name: case for case in tf_archive.all_cases() if case.family == family}
    assert problems == []
    assert {case.name for case in cases} == set(recorded)
    wrong = {}
    for case in cases:
        other = recorded[case.name]
        for side in ("inputs", "outputs"):
            mine, theirs = getattr(case, side), getattr(other, side)
            if list(mine) != list(theirs):
                wrong[case.name] = f"{side} {list(mine)}, recorded {list(theirs)}"
                continue
            for name, array in mine.items():
                said = tf_archive.difference(theirs[name], array, case.rtol)
                if said:
                    wrong[case.name] = f"{name}: {said}"
    assert wrong == {}
