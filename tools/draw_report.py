#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the README's picture of `anynpu report`: ResNet-50 on six pictures, profiled by msprof.

    .venv/bin/python tools/draw_report.py build docs/report.png

On a machine that does nothing else, since the picture shows times.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = """
    import acl
    import numpy as np
    from anynpu.profiler import mstx
    from ais_bench.infer.interface import InferSession
    session = InferSession(0, "resnet50.om")
    for number in range(6):
        stage = mstx.range_start(f"picture {number}")
        session.infer([np.random.rand(1, 3, 224, 224).astype(np.float32)])
        mstx.range_end(stage)
"""


def run(*command, folder):
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def profile(folder):
    """The path of the page."""
    run(sys.executable, os.path.join(ROOT, "examples", "models", "make_resnet50.py"),
        "resnet50.onnx", folder=folder)
    run("atc", "--model=resnet50.onnx", "--framework=5", "--output=resnet50",
        "--soc_version=Ascend310P3", folder=folder)
    with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(PROGRAM))
    run("msprof", "--output=prof", "--msproftx=on", sys.executable, "app.py", folder=folder)
    recorded, = glob.glob(os.path.join(folder, "prof", "PROF_*"))
    run("anynpu", "report", recorded, "-o", "report.html", folder=folder)
    return os.path.join(folder, "report.html")


def photograph(page, path):
    """The third to fifth picture, with one execution chosen."""
    from PIL import Image
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"),
                                             args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1280, "height": 860})
        tab.goto(f"file://{page}")
        tab.wait_for_function("window.ready === true")
        tab.evaluate("""() => {
          const lane = data.lanes.find(l => l.group === 'Device 0');
          const all = Array.from(lane.name.keys())
            .filter(i => data.names[lane.name[i]] === 'MODEL_EXECUTE');
          const first = all[2], last = all[4];
          setView(lane.t[first] - 0.2 * lane.d[first], lane.t[last] + 1.2 * lane.d[last]);
          select({ lane, i: all[3] });
        }""")
        tab.wait_for_timeout(300)
        tab.screenshot(path=path)
        browser.close()
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(128).save(path, optimize=True)


def main(build, path):
    build = os.path.abspath(build)
    os.environ["PATH"] = os.path.join(build, "bin") + os.pathsep + os.environ["PATH"]
    os.environ["PYTHONPATH"] = os.path.join(build, "python")
    with tempfile.TemporaryDirectory() as folder:
        photograph(profile(folder), path)


if __name__ == "__main__":
    main(*sys.argv[1:])
