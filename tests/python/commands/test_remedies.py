# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` advises for parts that are missing: one command each."""
import shutil

import pytest


@pytest.fixture
def remedies():
    from anynpu import remedies
    return remedies


@pytest.mark.parametrize("reason, command", [
    ("the plug-in does not open: libavcodec.so.59: cannot open shared object file: No such file "
     "or directory", "apt-get install libavcodec59"),
    ("the plug-in does not open: libpng16.so.16: cannot open shared object file",
     "apt-get install libpng16-16"),
    ("the plug-in does not open: libnobody.so.1: cannot open shared object file", ""),
    ("ANYNPU_NPC_INTERPRET is set", "")])
def test_a_missing_library_names_its_package(remedies, reason, command):
    assert remedies.for_library(reason) == command


def test_each_missing_part_has_a_command(remedies, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(remedies.importlib.util, "find_spec",
                        lambda name: None if name == "ray" else object())
    monkeypatch.setattr(remedies, "cuda_libraries", lambda: True)
    rows = dict(remedies.remedies([("video", "libswscale.so.6: cannot open shared object")], True))
    assert rows["video"] == "apt-get install libswscale6"
    assert rows["HPE kernels"].startswith("apt-get install clang-19")
    assert rows["GPU kernels"].endswith('-m pip install "anynpu[cuda]"')
    assert rows["clusters"].endswith('-m pip install "anynpu[ray]"')
    assert "GPU kernels" not in dict(remedies.remedies([], False))
