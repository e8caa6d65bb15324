# SPDX-License-Identifier: Apache-2.0
"""Names in backticks exist (tests/lint/check_names.py)."""
import os
import sys

import pytest
from build_tree import TESTS

sys.path.insert(0, os.path.join(TESTS, "lint"))
import check_names  # noqa: E402


def test_every_name_in_backticks_exists():
    found = check_names.findings()
    assert not found, "\n".join(found)


@pytest.fixture
def tree(tmp_path):
    """A tree of one source file, a page and a Makefile."""
    (tmp_path / "src" / "base").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "src" / "base" / "queue.h").write_text(
        "// `take` and `give`\nstruct Queue { int take(int most_bytes); };  // old_name\n")
    (tmp_path / "docs" / "page.md").write_text("")
    (tmp_path / "Makefile").write_text("test-arm: build\n")
    names = ["src/base/queue.h", "docs/page.md", "Makefile"]
    return check_names.Tree(str(tmp_path), names, others={"app.py", "strange thing"})


@pytest.mark.parametrize("span, gone", [
    ("Queue::take", []), ("take(most_bytes)", []), ("Queue::put", ["put"]),
    ("old_name", ["old_name"]),  # a comment alone does not make a name
    ("queue.h", []), ("base/queue.h", []), ("src/base/<file>.h", []), ("queue.cpp", ["queue.cpp"]),
    ("src/base", []), ("src/tensor", ["src/tensor"]), ("most_*", []), ("least_*", ["least_"]),
    ("make test-arm", []), ("make test-riscv", ["target 'test-riscv'"]),
    ("app.py", []), ("main.py", ["main.py"]), ("strange thing", []),
])
def test_a_span_is_searched_for_names(tree, span, gone):
    assert [name for name in tree.missing(span) if name not in ("make", "test", "arm", "riscv")] \
        == gone


def test_comments_and_links_are_searched_too(tree, tmp_path):
    (tmp_path / "docs" / "page.md").write_text("[a](page.md) [b](gone.md#x)\n\n`Queue` `Stack`\n")
    assert check_names.findings(tree) == [
        "src/base/queue.h:1: `give`: no give in this tree",
        "docs/page.md:1: a link to gone.md, which is not there",
        "docs/page.md:3: `Stack`: no Stack in this tree"]
