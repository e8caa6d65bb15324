# SPDX-License-Identifier: Apache-2.0
"""Every pass of the compiler has a row in src/compile/passes.def, a file, a unit test and a line in
docs/atc.md."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
COMPILE = os.path.join(ROOT, "src", "compile")
# Steps around the pipeline: always there, in their place, and no choice of anybody.
STEPS = {"infer_and_fold", "fold_texts", "remove_dead"}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def rows():
    return re.findall(r"^X\((\w+), ", read("src", "compile", "passes.def"), re.M)


def test_every_pass_that_is_declared_has_a_row():
    declared = set(re.findall(r"^Status (\w+)\(graph::Graph& graph",
                              read("src", "compile", "passes.h"), re.M))
    assert declared - STEPS == set(rows())


def test_every_pass_has_a_file_and_a_unit_test():
    for name in rows() + ["fold_texts", "remove_dead"]:
        for file in (f"{name}.cpp", f"{name}_test.cpp"):
            assert os.path.exists(os.path.join(COMPILE, file)), file
        assert re.search(rf"^Status {name}\(", read("src", "compile", f"{name}.cpp"), re.M), name


def test_every_file_that_is_named_like_a_pass_holds_one():
    names = {file[:-4] for file in os.listdir(COMPILE)
             if re.fullmatch(r"(fuse|fold|remove)_\w+\.cpp", file)
             and not file.endswith("_test.cpp")}
    assert names - {"fold_budget"} == (set(rows()) | STEPS) - {"infer_and_fold"}


def test_every_pass_has_a_line_on_the_page():
    page = read("docs", "atc.md")
    for name in rows():
        assert f"| `{name}` |" in page, name
