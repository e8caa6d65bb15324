# SPDX-License-Identifier: Apache-2.0
"""Every code block of every page does what the page says (support/page_blocks.py)."""
import page_blocks
import pytest
from build_tree import ROOT
from pages import page_names, read

PAGES = {name: page_blocks.blocks(name, read(name)) for name in page_names()}


@pytest.mark.parametrize("name", [name for name, found in PAGES.items()
                                  if any(not b.mark("not run") for b in found)])
def test_the_blocks_of_a_page_run_in_its_order(name, tmp_path):
    page, left_out = page_blocks.Page(tmp_path), 0
    for block in page_blocks.blocks(name, read(name)):
        try:
            left_out += bool(page.run(block)) and not block.mark("not run")
        except AssertionError as error:
            pytest.fail(f"{ROOT}/{name}:{block.line}: {error}")
    if not left_out:
        assert page.unused() == [], "saved, but no block of the page runs it"
    else:
        pytest.skip("a program that a block needs is not installed")


@pytest.mark.parametrize("name", sorted(page_names()))
def test_blocks_are_fenced(name):
    found = page_blocks.indented_blocks(read(name))
    assert found == [], f"{name}: fence the blocks at these lines and name their language"


def test_marks_outputs_and_jobs_are_read(tmp_path):
    (block,) = page_blocks.blocks("p.md", "<!-- before: touch a -->\n```console exit=3\n"
                                          "$ ls a &&\\\n> exit 3\na ...\n```\n")
    assert block.marks == [("before", "touch a")] and block.language == "console"
    assert page_blocks.commands("$ cat <<'END'\nx\nEND\nx\n$ true\n") == [
        ["cat <<'END'\nx\nEND", "x\n"], ["true", ""]]
    assert page_blocks.expected("a ... c\n").fullmatch("a b\nb c\n")
    assert not page_blocks.expected("a ... c\n").fullmatch("a b\n")
    assert page_blocks.job_commands("x:\n  script:\n    - pip install y\n    - ls z\n") == ["ls z"]
    page = page_blocks.Page(tmp_path)
    with pytest.raises(AssertionError, match="printed\n1\n"):
        page.run(page_blocks.blocks("p.md", "```console\n$ echo 1\n2\n```\n")[0])
    with pytest.raises(AssertionError, match="ended with 1, expected 0"):
        page.run(page_blocks.blocks("p.md", "```console\n$ false\n```\n")[0])
    with pytest.raises(AssertionError, match="neither how it is run nor why not"):
        page.run(page_blocks.blocks("p.md", "```\nx\n```\n")[0])
    assert page_blocks.indented_blocks("a\n\n    b\n\n- c\n\n    d\n") == [3]
