# SPDX-License-Identifier: Apache-2.0
"""The page of `anynpu graph --html`, in a real browser."""
import os
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest
from model_datasets import convert
from onnx import TensorProto, helper, numpy_helper, save
from onnx_models import network

from anynpu.graph_view import layout, page, weights

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def residual(blocks=3):
    """Blocks of two operators with an edge around them, in scopes."""
    weight = numpy_helper.from_array(np.linspace(-1, 2, 8, dtype=np.float32), "/scale/weight")
    last = "m"
    nodes = [helper.make_node("Mul", ["x", "/scale/weight"], ["m"], name="/scale/Mul")]
    for i in range(blocks):
        scope = f"/body/block{i}"
        nodes += [helper.make_node("Relu", [last], [f"r{i}"], name=f"{scope}/Relu"),
                  helper.make_node("Softmax", [f"r{i}"], [f"s{i}"], name=f"{scope}/Softmax",
                                   axis=1),
                  helper.make_node("Sigmoid", [f"s{i}"], [f"g{i}"], name=f"{scope}/Sigmoid"),
                  helper.make_node("Add", [last, f"g{i}"], [f"a{i}"], name=f"{scope}/Add")]
        last = f"a{i}"
    return network(nodes, [("x", TensorProto.FLOAT, [2, 8])], [(last, TensorProto.FLOAT, None)],
                   [weight])


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    model = residual()
    save(model, folder / "net.onnx")
    return {"om": convert(folder, "net", model), "onnx": str(folder / "net.onnx"),
            "folder": folder}


def graph(*args, **env):
    return subprocess.run(["anynpu", "graph", *args], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **env})


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright
    assert CHROMIUM, "the page is tested with chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM,
                                             args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture
def opened(browser):
    """Opens a page; nothing may be printed to its console, and nothing fetched."""
    tabs, said, asked = [], [], []

    def run(path):
        tab = browser.new_page(viewport={"width": 1300, "height": 800})
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(f"file://{path}")
        tab.wait_for_function("window.ready === true")
        tabs.append(tab)
        return tab
    yield run
    assert said == [] and all(url.startswith(("file:", "data:")) for url in asked)
    for tab in tabs:
        tab.close()


@pytest.fixture(scope="module")
def html(models):
    path = models["folder"] / "net.html"
    done = graph(models["om"], "--html", "-o", str(path))
    assert done.returncode == 0, done.stderr
    return path


def spot_of(tab, name):
    """The middle of an operator's box on the screen."""
    return tab.evaluate("""name => {
      const pane = panes[0], box = pane.view.boxes.find(b => b.op !== undefined
        ? pane.model.ops[b.op].name === name : b.group === name);
      const at = pane.canvas.getBoundingClientRect();
      return [at.x + (box.x + box.w / 2 - pane.at.x) * pane.at.zoom,
              at.y + (box.y + box.h / 2 - pane.at.y) * pane.at.zoom];
    }""", name)


def test_lines_run_around_boxes(opened, html):
    """No point of a line is inside a box that it neither leaves nor reaches."""
    tab = opened(html)
    crossed = tab.evaluate("""() => {
      const found = [];
      for (const view of panes[0].model.views) for (const line of view.lines) {
        const p = line.path;
        for (let i = 0; i + 7 < p.length; i += 6) for (let t = 0; t <= 1; t += 0.05) {
          const u = 1 - t;
          const at = k => u * u * u * p[i + k] + 3 * u * u * t * p[i + 2 + k] +
            3 * u * t * t * p[i + 4 + k] + t * t * t * p[i + 6 + k];
          const x = at(0), y = at(1);
          view.boxes.forEach((b, n) => {
            if (n !== line.from && n !== line.to && x > b.x + 1 && x < b.x + b.w - 1 &&
                y > b.y + 1 && y < b.y + b.h - 1) found.push([view.name, line.from, line.to, n]);
          });
        }
      }
      return found;
    }""")
    assert crossed == []
    assert tab.evaluate("panes[0].model.views.every(v => v.lines.every(l => l.path.length >= 8))")


def test_a_click_shows_attributes_shapes_weights_and_kernel(opened, html):
    tab = opened(html)
    tab.evaluate("panes[0].go('*')")
    tab.mouse.click(*spot_of(tab, "/body/block0/Softmax"))
    text = tab.inner_text("#details")
    assert "/body/block0/Softmax" in text and "axis" in text and "2x8" in text
    assert "KERNEL" in text.upper()
    tab.mouse.click(*spot_of(tab, "/scale/Mul"))
    text = tab.inner_text("#details")
    assert "min -1" in text and "max 2" in text and "mean 0.5" in text


def test_search_finds_and_goes_to_operators(opened, html):
    tab = opened(html)
    tab.fill("#find", "sigmoid")
    assert "3 found" in tab.inner_text("#facts")
    tab.press("#find", "Enter")
    assert "/body/block0/Sigmoid" in tab.inner_text("#details")
    tab.press("#find", "Enter")
    assert "/body/block1/Sigmoid" in tab.inner_text("#details")


def test_groups_fold_open_and_close(opened, html):
    tab = opened(html)
    tab.evaluate("panes[0].go(''); show()")
    assert tab.evaluate("panes[0].view.boxes.some(b => b.group === 'body')")
    tab.mouse.dblclick(*spot_of(tab, "body"))
    assert tab.evaluate("panes[0].view.name") == "body"
    tab.mouse.dblclick(*spot_of(tab, "body/block1"))
    assert tab.evaluate("panes[0].view.boxes.filter(b => !b.outside).length") == 4
    tab.keyboard.press("Escape")
    tab.keyboard.press("Escape")
    assert tab.evaluate("panes[0].view.name") == ""
    tab.click("#fold")
    assert tab.evaluate("panes[0].view.boxes.length") == tab.evaluate("panes[0].model.ops.length")


def test_the_wheel_zooms_and_a_drag_moves(opened, html):
    tab = opened(html)
    before = tab.evaluate("panes[0].at")
    tab.mouse.move(400, 400)
    tab.mouse.wheel(0, -300)
    tab.wait_for_function(f"panes[0].at.zoom > {before['zoom']}")
    zoomed = tab.evaluate("panes[0].at")
    tab.mouse.down()
    tab.mouse.move(480, 420, steps=4)
    tab.mouse.up()
    moved = tab.evaluate("panes[0].at")
    assert abs((zoomed["x"] - moved["x"]) * zoomed["zoom"] - 80) < 2


def test_colours_by_precision_and_device(opened, html):
    tab = opened(html)
    tab.select_option("#colour", "precision")
    assert "float32" in tab.inner_text("#details")
    tab.select_option("#colour", "device")
    assert "device" in tab.inner_text("#details")


def test_a_profile_colours_by_time(opened, models, tmp_path):
    program = tmp_path / "app.py"
    program.write_text(f"""
import numpy as np
from ais_bench.infer.interface import InferSession
session = InferSession(0, {models["om"]!r})
for _ in range(5):
    session.infer([np.ones((2, 8), np.float32)])
""")
    done = subprocess.run(["msprof", f"--output={tmp_path}/prof", sys.executable, str(program)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    out = tmp_path / "timed.html"
    profile = next((tmp_path / "prof").glob("PROF_*"))
    done = graph(models["om"], "--html", "-o", str(out), "--profile", str(profile))
    assert done.returncode == 0, done.stderr
    tab = opened(out)
    assert tab.evaluate("scheme") == "time"
    tab.evaluate("panes[0].go('*')")
    tab.mouse.click(*spot_of(tab, "/body/block0/Softmax"))
    assert "us" in tab.inner_text("#details") and "RUNS" in tab.inner_text("#details").upper()


def test_two_models_stand_side_by_side_with_what_changed(opened, models, tmp_path):
    out = tmp_path / "both.html"
    done = graph(models["om"], "--html", "-o", str(out), "--before", models["onnx"])
    assert done.returncode == 0, done.stderr
    tab = opened(out)
    assert tab.evaluate("panes.length") == 2 and tab.is_visible("#canvas1")
    assert "before: net.onnx" in tab.inner_text("#caption0")
    assert tab.evaluate("scheme") == "change"


def test_without_graphviz_a_sentence_says_how_to_get_it(models, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("anynpu", "atc", "python3", "env", "sh", "bash"):
        if found := shutil.which(name):
            os.symlink(found, folder / name)
    done = graph(models["om"], "--html", "-o", str(tmp_path / "plain.html"), PATH=str(folder))
    assert done.returncode == 0, done.stderr
    assert "apt-get install graphviz" in done.stderr
    assert "canvas0" in (tmp_path / "plain.html").read_text()


def test_thousands_of_operators_are_laid_out_and_drawn_fast(opened, tmp_path):
    class Op:
        domain, attrs, inputs, outputs = "", {}, [], []

        def __init__(self, name):
            self.name, self.type = name, "Relu"
    ops = [Op(f"/part{i // 300}/op{i}") for i in range(3000)]
    edges = [(ops[i].name, ops[i + 1].name, "t") for i in range(2999)]
    edges += [(ops[i].name, ops[i + 7].name, "t") for i in range(0, 2990, 9)]
    text = page.page_of("large", [page.model_data("large", ops, edges, {}, page.Facts())], "")
    (tmp_path / "large.html").write_text(text)
    tab = opened(tmp_path / "large.html")
    assert tab.evaluate("panes[0].view.boxes.length") == 10, "it opens folded"
    tab.click("#fold")
    taken = tab.evaluate("""() => { const begin = performance.now();
      for (let i = 0; i < 5; ++i) panes[0].paint(); return (performance.now() - begin) / 5; }""")
    assert taken < 250, f"{taken} ms a frame"


def test_what_is_no_model_is_told_in_the_words_of_this_command(tmp_path):
    (tmp_path / "junk.om").write_bytes(b"nonsense")
    done = graph(str(tmp_path / "junk.om"))
    assert done.returncode == 1 and "--framework" not in done.stderr
    assert ".onnx" in done.stderr
    done = graph(str(tmp_path / "junk.om"), "--before", str(tmp_path / "junk.om"))
    assert done.returncode == 2 and "--html" in done.stderr


def test_weights_of_every_type_are_read(models):
    found = weights.statistics(models["om"])
    assert any(line.startswith("min -1 ") and "zeros 0.0 %" in line for line in found.values())
    assert weights.numbers_of(np.array([0x3f80, 0xbf80], np.uint16).tobytes(), weights.BFLOAT16,
                              np).tolist() == [1, -1]
    assert weights.statistics(models["onnx"]) == {}


def test_weights_of_a_damaged_file_are_told_and_never_crash_the_reader(models, tmp_path):
    good = open(models["om"], "rb").read()
    path = str(tmp_path / "bad.om")
    rng, told, read = random.Random(5), 0, 0
    for i in range(400):
        data = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(len(data) if i % 2 else 200)] = rng.randrange(256)
        if rng.random() < 0.2:
            del data[rng.randrange(len(data)):]
        with open(path, "wb") as file:
            file.write(data)
        try:
            weights.statistics(path)
            read += 1
        except weights.Damaged as error:
            told += 1
            assert "bytes" in str(error) or "field" in str(error) or "number" in str(error)
    assert told > 20 and read > 20, "both must happen"


def test_dot_and_rows_give_every_box_a_place():
    boxes, lines = [(150, 34)] * 4, [(0, 1), (1, 2), (2, 3), (0, 3)]
    for places, paths, width, height in (layout.by_rows(boxes, lines),
                                         layout.layouts([(boxes, lines)])[0]):
        assert len(places) == 4 and len(paths) == 4 and all(paths)
        assert len({round(y) for _, y in places}) == 4
        assert all(-1 <= x <= width and -1 <= y <= height for x, y in places)
