# SPDX-License-Identifier: Apache-2.0
"""Output folders that cannot be written: what and where is said, the status is not 0, nothing is
half written, and a session goes on."""
import os
import subprocess
import sys

import numpy as np
import pytest
from command_files import save
from om_models import image

from ais_bench.infer.summary import Summary

# Modes of files count for root too when it may not override them.
AS_USER = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override",
                                   "--inh-caps=-dac_override"]
SMALL_FILES = ["prlimit", "--fsize=1000"]  # the second result has 1024 bytes


def command(models, *words, before=()):
    done = subprocess.run([*before, sys.executable, "-m", "ais_bench", "--model", models("fixed"),
                           *words], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def folder(path, mode):
    os.makedirs(path)
    os.chmod(path, mode)
    return str(path)


def everything_in(path):
    return sorted(os.path.relpath(os.path.join(where, name), path)
                  for where, folders, files in os.walk(path) for name in (*folders, *files))


def test_a_folder_that_you_may_not_write_is_refused(models, tmp_path):
    out = folder(tmp_path / "out", 0o550)
    code, text = command(models, "--output", out, before=AS_USER)
    assert code == 2 and f"'{out}' cannot be written by you" in text, text
    assert everything_in(out) == []


@pytest.mark.parametrize("more", [[], ["--dump", "1"], ["--profiler", "1"], ["--device", "0,1"],
                                  ["--pipeline", "1"]])
def test_a_folder_that_you_may_not_make_is_named(models, tmp_path, more):
    parent = folder(tmp_path / "parent", 0o550)
    code, text = command(models, "--output", f"{parent}/out", *more, before=AS_USER)
    assert code == 1, text
    assert f"[ERROR] RuntimeError: cannot make the folder '{parent}/out" in text, text
    assert "Permission denied; name a folder that you may write into" in text
    assert "load model" not in text and everything_in(parent) == []


def test_a_run_folder_that_you_may_not_write_is_named(models, tmp_path):
    out = folder(tmp_path / "out", 0o750)
    folder(tmp_path / "out" / "r", 0o550)
    code, text = command(models, "--output", out, "--output_dirname", "r", before=AS_USER)
    assert code == 1, text
    assert f"cannot write '{out}/r/pure_infer_data_0.bin': Permission denied" in text, text
    assert everything_in(out) == ["r"]


@pytest.mark.parametrize("more", [[], ["--pipeline", "1"], ["--run_mode", "full"]])
def test_a_full_disk_leaves_whole_files_alone(models, tmp_path, more):
    (path,) = save(str(tmp_path / "in"), x=image(1, 3, 8, 8))
    out = str(tmp_path / "out")
    code, text = command(models, "--input", path, "--output", out, "--output_dirname", "r", *more,
                         before=SMALL_FILES)
    assert code == 1 and f"cannot write '{out}/r/x_1.bin': File too large" in text, text
    assert "check the output folder and its free space" in text
    assert everything_in(out) == ["r", "r/x_0.bin"]


@pytest.mark.parametrize("place", ["/proc/ais_bench", "/dev/null/out"])
def test_a_place_where_nobody_can_write_is_named(run, models, place):
    text = run("--model", models("fixed"), "--output", place, code=1)
    assert f"[ERROR] RuntimeError: cannot make the folder '{place}'" in text, text


def test_a_session_goes_on_after_files_that_could_not_be_written(make, tmp_path):
    session, x = make("fixed"), image(1, 3, 8, 8)
    want = session.infer([x])
    files = [[path] for path in save(str(tmp_path / "in"), a=x, b=x)]
    with pytest.raises(RuntimeError, match="cannot make the folder '/dev/null/out'"):
        session.run_pipeline(files, "/dev/null/out")
    out = tmp_path / "out"
    (out / "b_1.npy").mkdir(parents=True)
    with pytest.raises(RuntimeError, match=f"cannot write '{out}/b_1.npy': it is not a regular"):
        session.run_pipeline(files, str(out), outfmt="NPY")
    assert everything_in(out) == ["a_0.npy", "a_1.npy", "b_0.npy", "b_1.npy"]
    (out / "b_1.npy").rmdir()
    session.run_pipeline(files, str(out), outfmt="NPY")
    for index, array in enumerate(want):
        assert np.load(out / f"b_{index}.npy").tobytes() == array.tobytes()
        assert session.infer([x])[index].tobytes() == array.tobytes()


def test_a_summary_that_cannot_be_written_is_named(tmp_path):
    summary = Summary()
    with pytest.raises(RuntimeError, match=f"cannot write '{tmp_path}/none/r_summary.json': No "
                                           "such file or directory"):
        summary.report(1, f"{tmp_path}/none/r")
    summary.report(1, f"{tmp_path}/r")
    assert everything_in(tmp_path) == ["r_summary.json"]


def test_runs_of_the_same_second_have_a_folder_each(models, tmp_path, monkeypatch, capfd):
    from ais_bench.infer import outputs
    from ais_bench.infer.command import main
    monkeypatch.setattr(outputs.time, "strftime", lambda form: "2026_01_02-03_04_05")
    out = tmp_path / "out"
    for _ in range(3):
        assert main(["--model", models("fixed"), "--output", str(out)]) == 0
    names = [f"2026_01_02-03_04_05{suffix}" for suffix in ("", "_1", "_2")]
    assert everything_in(out)[0] == names[0]
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == names
    for name in names:
        assert sorted(path.name for path in (out / name).iterdir()) == [
            "pure_infer_data_0.bin", "pure_infer_data_1.bin"]
        assert (out / f"{name}_summary.json").is_file()
