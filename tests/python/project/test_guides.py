# SPDX-License-Identifier: Apache-2.0
"""docs/adding_an_operator.md and docs/adding_an_api.md, followed to the letter in a copy of the
tree: what they add is compiled, linked with the objects of the build, and works (recipe.py)."""
import csv
import os
import shutil
import subprocess
import sys

import pytest
import recipe
from build_tree import BUILD, ROOT


def page(name):
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as file:
        return file.read()


def followed(name, folder):
    copy = recipe.Copy(ROOT, folder, BUILD)
    copy.follow(page(name))
    return copy


def built(target):
    """The build has the objects that the guide's files are linked with."""
    return os.path.isfile(os.path.join(BUILD, "build.ninja")) and shutil.which("ninja") \
        and os.path.isfile(os.path.join(BUILD, "src", target))


def sources(copy, *endings):
    return [name for name in copy.changed if name.endswith(endings) and name.startswith("src/")]


def run_tests(program, only):
    done = subprocess.run([program, f"--gtest_filter={only}"], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0 and "[  PASSED  ]" in done.stdout, done.stdout + done.stderr
    return done.stdout


def test_code_of_the_guides_is_formatted_and_keeps_the_rules_of_the_tree(tmp_path):
    copy = followed("adding_an_operator.md", tmp_path / "tree")
    copy.follow(page("adding_an_api.md"))
    cpp = [copy.path(changed) for changed in copy.changed if changed.endswith((".cpp", ".h"))
           and changed.startswith("src/")]
    assert cpp
    if shutil.which("clang-format"):
        subprocess.run(["clang-format", "--dry-run", "-Werror", *cpp], check=True, timeout=300)
    for lint in ("check_layers.py", "check_names.py", "check_entry_points.py",
                 "check_tests_beside.py"):
        done = subprocess.run([sys.executable, copy.path(f"tests/lint/{lint}")], text=True,
                              capture_output=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not built("ops_test"), reason="ops_test is not built")
def test_the_operator_of_the_guide_passes_its_tests(tmp_path):
    copy = followed("adding_an_operator.md", tmp_path / "tree")
    objects = copy.compile([name for name in sources(copy, ".cpp") if "_test." not in name],
                           like="src/CMakeFiles/ops.dir/")
    objects += copy.compile(sources(copy, "_test.cpp"), like="src/CMakeFiles/ops_test.dir/")
    program = copy.link("ops_test", objects, "ops_test")
    assert "2 tests" in run_tests(program, "SoftCap.*")


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    return followed("adding_an_api.md", tmp_path_factory.mktemp("api") / "tree")


def test_the_function_of_the_guide_is_in_the_table_and_on_its_page(api):
    with open(api.path("src/api/acl/api.tsv"), encoding="utf-8") as file:
        row = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[-1]
    assert (row["python"], row["status"]) == ("acl.rt.get_aligned_size", "works")
    with open(api.path("docs/api_coverage.md"), encoding="utf-8") as file:
        assert "| `get_aligned_size(size, alignment)` |" in file.read()


@pytest.mark.skipif(not built("service_test"), reason="service_test is not built")
def test_the_service_of_the_guide_passes_its_tests(api):
    objects = api.compile([n for n in sources(api, ".cpp") if n.startswith("src/service/")],
                          like="src/CMakeFiles/service_test.dir/")
    assert "2 tests" in run_tests(api.link("service_test", objects, "service_test"),
                                  "AlignedSize.*")


@pytest.mark.skipif(not built("../lib/libascendcl.so"), reason="the libraries are not built")
def test_the_function_of_the_guide_works_from_python(api, tmp_path):
    """The three libraries are linked again with what the guide adds; the rest is the build's."""
    out = tmp_path / "out"
    mirror(BUILD, out)
    core = api.compile(["src/service/memory/aligned_size.cpp"], like="src/CMakeFiles/service.dir/")
    door = api.compile(["src/api/acl/aligned_size.cpp"], like="src/CMakeFiles/api_acl.dir/")
    api.run("mkdir -p made && python3 tools/gen_pyacl map ascendcl made/ascendcl.map && "
            "python3 tools/gen_pyacl wrappers made")
    wrapper = api.compile(["made/wrappers_rt.cpp"], like="/pyacl.dir/")
    lib = {name: str(out / "lib" / name) for name in ("libanynpu.so", "libascendcl.so")}
    api.link("anynpu", core, lib["libanynpu.so"])
    api.link("ascendcl", door, lib["libascendcl.so"],
             {"libanynpu.so": lib["libanynpu.so"], "ascendcl.map": api.path("made/ascendcl.map")})
    module = next((out / "python" / "acl").glob("_acl*.so"))
    module.unlink()
    api.link("pyacl", wrapper, str(module), lib)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         "tests/python/runtime/test_aligned_size.py"], cwd=api.folder, capture_output=True,
        text=True, timeout=300,
        env={**os.environ, "ANYNPU_BUILD_DIR": str(out), "PYTHONPATH": str(out / "python")})
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def mirror(build, out):
    """The libraries and Python packages of a build by links, so that some can be replaced."""
    for folder in ("lib", "python", "python/acl"):
        (out / folder).mkdir(parents=True)
        for name in os.listdir(os.path.join(build, folder)):
            if not (out / folder / name).exists() and (folder, name) != ("python", "acl"):
                os.symlink(os.path.join(build, folder, name), out / folder / name)
    for name in ("libanynpu.so", "libascendcl.so"):
        (out / "lib" / name).unlink()


def test_steps_of_a_guide_are_read_and_applied(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "list.txt").write_text("one\n  two\nthree\n")
    copy = recipe.Copy(tmp_path / "a", tmp_path / "b", "no build")
    copy.follow("""
1. Words.

   **New file** `new/file.txt`:

   ```
   first
     second
   ```

2. **In** `list.txt`, after `two`:

   ```
   between
   ```

**In** `list.txt`, before `one`:
```
zero
```

**At the end of** `list.txt`:

```
four
```

**Run:**

```sh
wc -l < list.txt > count
```
""")
    assert (tmp_path / "b" / "new" / "file.txt").read_text() == "first\n  second\n"
    assert (tmp_path / "b" / "list.txt").read_text() == "zero\none\n  two\nbetween\nthree\nfour\n"
    assert (tmp_path / "b" / "count").read_text().strip() == "6"
    with pytest.raises(AssertionError, match="no line 'nine'"):
        copy.follow("**In** `list.txt`, after `nine`:\n\n```\nten\n```\n")
