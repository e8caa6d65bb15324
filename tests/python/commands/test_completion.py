# SPDX-License-Identifier: Apache-2.0
"""--version of every command, and the completion that `anynpu completion` prints."""
import shutil
import subprocess

import pytest
from build_tree import BUILD

COMMANDS = ("anynpu", "atc", "msprof", "msaccucmp", "npu-smi", "stc-prof", "stc-smi", "stc-clang",
            "stc-clang++", "stc-ld.lld")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def anynpu_version():
    from anynpu import __version__
    return __version__


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_tells_its_version(command):
    if command.startswith("stc-c") and shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    done = run(f"{BUILD}/bin/{command}", "--version")
    assert done.returncode == 0, done.stderr
    assert anynpu_version() in done.stdout, done.stdout


def test_ais_bench_tells_its_version():
    import sys
    done = run(sys.executable, "-m", "ais_bench", "--version")
    assert done.returncode == 0 and anynpu_version() in done.stdout


@pytest.fixture(scope="module")
def script():
    done = run(f"{BUILD}/bin/anynpu", "completion", "bash")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("line, word, expected", [
    ("anynpu ", "doc", ["doctor"]),
    ("anynpu report ", "--per", ["--perfetto"]),
    ("anynpu completion ", "z", ["zsh"]),
    ("atc ", "--soc", ["--soc_version="]),
    ("msprof ", "--aic-me", ["--aic-metrics="]),
    ("npu-smi ", "in", ["info"]),
    ("msaccucmp compare ", "-g", ["-g"]),
    ("stc-prof ", "rec", ["record"])])
def test_bash_completes(script, line, word, expected):
    words = line.split()
    name = "_anynpu_" + words[0].replace("-", "_")
    listed = " ".join(f"'{w}'" for w in [*words, word])
    done = run("bash", "--norc", "-c", f"{script}\nCOMP_WORDS=({listed}) COMP_CWORD={len(words)}\n"
               f"{name}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    assert done.stdout.split() == expected, done.stderr


def test_zsh_and_fish_scripts_name_every_command():
    for shell in ("zsh", "fish"):
        text = run(f"{BUILD}/bin/anynpu", "completion", shell).stdout
        assert all(command in text for command in COMMANDS)
    assert "complete -c atc -n __fish_use_subcommand -l soc_version -r" in text
