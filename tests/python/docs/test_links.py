# SPDX-License-Identifier: Apache-2.0
"""Links, headings and the navigation of the site (tools/site/links.py), and its generated pages."""
import os
import subprocess
import sys

import pytest
from build_tree import ROOT

SITE = os.path.join(ROOT, "tools", "site")


def run(*command):
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True,
                          timeout=300)


@pytest.fixture
def links(monkeypatch):
    monkeypatch.syspath_prepend(SITE)
    import links
    return links


def test_every_link_of_every_page_leads_somewhere():
    done = run("tools/site/links.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_link_to_nothing_is_found(links, monkeypatch):
    pages = {"docs/a.md": "[b](b.md) [c](c.md#two-words) [d](c.md#no)\n"
                          "```\n[x](y.md)\n```\n`[x](z.md)`",
             "docs/c.md": "# Two `words`\n"}
    links.anchors.cache_clear()
    monkeypatch.setattr(links, "tracked_files", lambda: tuple(pages))
    monkeypatch.setattr(links, "read", pages.get)
    assert links.problems() == ["docs/a.md:1: b.md is not there",
                                "docs/a.md:1: docs/c.md has no heading #no"]
    links.anchors.cache_clear()


def test_the_page_of_error_codes_is_up_to_date():
    done = run("tools/site", "pages", "--check")
    assert done.returncode == 0, done.stderr


def test_every_code_of_the_headers_has_a_page():
    done = subprocess.run(
        [sys.executable, "-c", "import error_table as t, error_pages as p\n"
         "for e in t.errors(): print(e.number, e.name, len(p.page(e)) > 100)"],
        cwd=SITE, capture_output=True, text=True, timeout=60, check=True)
    pages = done.stdout.splitlines()
    assert "107000 ACL_ERROR_RT_PARAM_INVALID True" in pages
    assert "507035 ACL_ERROR_RT_VECTOR_CORE_EXCEPTION True" in pages
    assert all(line.endswith("True") for line in pages) and len(pages) > 280
