# SPDX-License-Identifier: Apache-2.0
"""stc-clang and stc-ld.lld where Debian's clang is not installed: PyPI's ziglang holds both."""
import importlib.util
import os
import sys

import pytest
from build_tree import ROOT


def program(name):
    """The wrapper's source as a module."""
    path = os.path.join(ROOT, "tools", "stc", f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def started(monkeypatch):
    """The words of the program that takes the place of this process."""
    words = []

    def execv(path, arguments):
        assert path == arguments[0]
        words.extend(arguments)
        raise SystemExit(0)

    monkeypatch.setattr(os, "execv", execv)
    monkeypatch.setenv("PATH", "/nowhere")
    return words


@pytest.fixture
def zig(tmp_path, monkeypatch):
    """A package ziglang with its program."""
    folder = tmp_path / "ziglang"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "zig").write_text("#!/bin/sh\n")
    (folder / "zig").chmod(0o755)
    monkeypatch.syspath_prepend(str(tmp_path))
    return str(folder / "zig")


@pytest.mark.parametrize("name, command", [("stc-clang", "cc"), ("stc-clang++", "c++")])
def test_the_clang_of_ziglang_compiles_for_the_cores(started, zig, monkeypatch, name, command):
    stc_clang = program("stc_clang")
    monkeypatch.setattr(stc_clang, "find_clang", lambda plus: None)
    monkeypatch.setattr(sys, "argv", [name, "--target=riscv32npu", "-O2", "-c", "kernel.cc"])
    with pytest.raises(SystemExit):
        stc_clang.main()
    assert started[:2] == [zig, command]
    assert "--target=riscv32-freestanding-none" in started and "-mabi=ilp32" in started
    assert not any(word.startswith("-march") for word in started)  # zig refuses clang's names
    assert started[-3:] == ["-O2", "-c", "kernel.cc"]


def test_the_linker_of_ziglang_links(started, zig, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["stc-ld.lld", "-flavor", "gnu", "a.o", "-r", "-o", "b.o"])
    with pytest.raises(SystemExit):
        program("stc_ld").main()
    assert started == [zig, "ld.lld", "a.o", "-r", "-o", "b.o"]


@pytest.mark.parametrize("name, argv0", [("stc_clang", "stc-clang"), ("stc_ld", "stc-ld.lld")])
def test_without_both_the_message_names_both(started, monkeypatch, name, argv0):
    module = program(name)
    if name == "stc_clang":
        monkeypatch.setattr(module, "find_clang", lambda plus: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", [argv0, "-c", "kernel.c"])
    with pytest.raises(SystemExit, match="ziglang with pip"):
        module.main()
    assert started == []
