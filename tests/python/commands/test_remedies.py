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
def test_a_missing_library_names_its_package(remedies, monkeypatch, reason, command):
    monkeypatch.setattr(remedies, "system", lambda: ("debian", "12", "Debian 12"))
    assert remedies.for_library(reason) == command


def test_no_package_is_named_that_the_system_does_not_have(remedies, monkeypatch):
    monkeypatch.setattr(remedies, "system", lambda: ("ubuntu", "24.04", "Ubuntu 24.04.1 LTS"))
    assert remedies.for_library("libavcodec.so.59: cannot open shared object file") == (
        "FFmpeg 5.1 (libavcodec59), which Debian 12 has; Ubuntu 24.04.1 LTS has another version")
    assert remedies.for_library("libucp.so.0: cannot open shared object file") == \
        "apt-get install libucx0"


def test_each_missing_part_has_a_command(remedies, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(remedies.importlib.util, "find_spec",
                        lambda name: None if name in ("ray", "ziglang") else object())
    monkeypatch.setattr(remedies, "system", lambda: ("debian", "12", "Debian 12"))
    monkeypatch.setattr(remedies, "cuda_libraries", lambda: True)
    rows = dict(remedies.remedies([("video", "libswscale.so.6: cannot open shared object")], True))
    assert rows["video"] == "apt-get install libswscale6"
    assert rows["HPE kernels"].endswith(
        '-m pip install "ziglang", or apt-get install clang-19 lld-19')
    assert rows["GPU kernels"].endswith('-m pip install "anynpu[cuda]"')
    assert rows["clusters"].endswith('-m pip install "anynpu[ray]"')
    assert "GPU kernels" not in dict(remedies.remedies([], False))
