# SPDX-License-Identifier: Apache-2.0
"""What the tests of `anynpu report` share: two profiles, their page, and a browser."""
import shutil

import numpy as np
import pytest
from model_datasets import Model
from prof_case import API, MEMORY, TASK, directory, make_model, report, session

import acl

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def profiles(tmp_path_factory):
    """Two profiles of one model; the second ran more often."""
    model_path = make_model(tmp_path_factory.mktemp("model"))
    found = []
    for times in (4, 6):
        folder = tmp_path_factory.mktemp("profile")
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        with session(folder, API | TASK | MEMORY):
            stream, _ = acl.rt.create_stream()
            model = Model(model_path)
            model.feed(np.ones([1, 3, 32, 32], np.float32))
            for _ in range(times):
                assert acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream) == 0
            assert acl.rt.synchronize_stream(stream) == 0
            model.close()
            assert acl.rt.destroy_stream(stream) == 0
        assert acl.rt.reset_device(0) == 0
        assert acl.finalize() == 0
        found.append(directory(folder))
    return found


@pytest.fixture(scope="module")
def page(profiles, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    done = report(profiles[1], "-o", path, "--diff", profiles[0])
    assert done.returncode == 0, done.stderr
    return path


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
def opened(browser, page):
    """The page, opened; at the end nothing may have been printed to its console."""
    tab = browser.new_page(viewport={"width": 1300, "height": 900})
    said, asked = [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"file://{page}")
    tab.wait_for_function("window.ready === true")
    yield tab
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    tab.close()
