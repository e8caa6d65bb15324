# SPDX-License-Identifier: Apache-2.0
"""The table of the acl API agrees with the headers, the sources and the docs page."""
import ast
import csv
import glob
import os
import re
import subprocess
import sys

import api_table
import pytest

ROOT = api_table.ROOT
INCLUDE = os.path.join(ROOT, "include")


def header_text():
    paths = [path for folder in ("acl", "runtime", "driver", "toolchain", "hccl")
             for path in glob.glob(os.path.join(INCLUDE, folder, "**", "*.h"), recursive=True)]
    return "\n".join(open(path, encoding="utf-8").read() for path in sorted(paths))


def compile_only(language, standard, text, tmp_path):
    source = tmp_path / f"check.{language}"
    source.write_text(text)
    compiler = {"c": "cc", "cpp": "c++"}[language]
    return subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic",
                           "-fsyntax-only", "-I", INCLUDE, str(source)],
                          capture_output=True, text=True, timeout=300)


def test_coverage_page_is_fresh(tmp_path):
    fresh = tmp_path / "api_coverage.md"
    subprocess.run([sys.executable, api_table.GENERATOR, "docs", str(fresh)], check=True,
                   timeout=300)
    with open(os.path.join(ROOT, "docs", "api_coverage.md"), encoding="utf-8") as page:
        assert page.read() == fresh.read_text(), "run: python3 tools/gen_pyacl sync"


def test_status_column_agrees_with_the_sources():
    import sync

    defined = set().union(*(sync.defined_functions(lib.folder) for lib in api_table.LIBRARIES))
    works = {r.c_function for r in api_table.ROWS if r.status == "works" and r.c_function}
    assert works == defined, "run: python3 tools/gen_pyacl sync"


def test_every_declared_function_has_a_row_and_every_row_a_declaration():
    declared = set(re.findall(r"ACL_FUNC_VISIBILITY[^;]*?\b((?:acl|hi_|rt|hal|Msprof|Hccl)\w+)\(",
                              header_text()))
    listed = {row.c_function for row in api_table.ROWS if row.c_signature}
    assert declared == listed


def test_refusals_have_reasons():
    for row in api_table.ROWS:
        assert row.status != "refused" or len(row.reason) > 20


@pytest.mark.parametrize("language, standard", [("c", "c11"), ("c", "c17"), ("cpp", "c++11"),
                                                ("cpp", "c++20")])
def test_headers_compile_cleanly(language, standard, tmp_path):
    headers = [header for lib in api_table.LIBRARIES for header in lib.headers]
    text = "".join(f'#include "{header}"\n' for header in [*headers, "anynpu.h"])
    done = compile_only(language, standard, text, tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_header_compiles_alone(tmp_path):
    paths = glob.glob(os.path.join(INCLUDE, "acl", "**", "*.h"), recursive=True)
    for path in sorted(paths):
        text = f'#include "{os.path.relpath(path, INCLUDE)}"\ntypedef int not_empty;\n'
        done = compile_only("c", "c11", text, tmp_path)
        assert done.returncode == 0, done.stderr


def test_constants_have_the_documented_values(tmp_path):
    with open(os.path.join(ROOT, "tests", "data", "acl_constants.tsv"), encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    assert len(rows) > 600
    lines = [f'#include "{header}"' for lib in api_table.LIBRARIES for header in lib.headers]
    for name, value in rows:
        if value.startswith('"'):
            lines.append(f'_Static_assert(sizeof({name}) == sizeof({value}), "{name}");')
        else:
            lines.append(f'_Static_assert({name} == {value}, "{name}");')
    done = compile_only("c", "c11", "\n".join(lines) + "\n", tmp_path)
    assert done.returncode == 0, done.stderr


def test_struct_table_agrees_with_the_headers(tmp_path):
    import table

    structs = table.read_structs(api_table.LIBRARIES)
    lines = ["#include <stddef.h>"]
    lines += [f'#include "{header}"' for lib in api_table.LIBRARIES for header in lib.headers]
    for struct in structs.values():
        names = [field.name for field in struct.fields]
        if struct.kind == "struct":  # in the order of the table; members of a union share a place
            lines += [f"_Static_assert(offsetof({struct.name}, {a}) <= "
                      f'offsetof({struct.name}, {b}), "{struct.name}.{b}");'
                      for a, b in zip(names, names[1:])]
        for field in struct.fields:
            c_type = field.type.replace("bytes", "char")
            base, brackets = re.fullmatch(r"([^\[]+)((?:\[\w+\])*)", c_type).groups()
            lines.append(f"extern {base} v_{struct.name}_{field.name}{brackets};")
            lines.append(f"_Static_assert(_Generic(&(({struct.name}*)0)->{field.name}, "
                         f"__typeof__(&v_{struct.name}_{field.name}): 1, default: 0), "
                         f'"{struct.name}.{field.name}");')
    done = compile_only("c", "c11", "\n".join(lines) + "\n", tmp_path)
    assert done.returncode == 0, done.stderr


C_PROGRAM = """
#include <stdio.h>
#include "acl/acl.h"
int main(void) {
  aclrtRunMode mode;
  aclError ret = aclInit(NULL);
  if (ret != ACL_SUCCESS) return 1;
  if (aclInit("") != ACL_ERROR_REPEAT_INITIALIZE) return 2;
  if (aclGetRecentErrMsg() == NULL) return 3;
  if (aclrtGetRunMode(&mode) == ACL_SUCCESS && mode != ACL_HOST) return 4;
  return aclFinalize() == ACL_SUCCESS ? 0 : 5;
}
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_program_links_with_lascendcl_and_runs(language, tmp_path):
    libraries = os.path.join(os.environ["ANYNPU_BUILD_DIR"], "lib")
    source, program = tmp_path / f"program.{language}", tmp_path / "program"
    source.write_text(C_PROGRAM)
    compiler = {"c": "cc", "cpp": "c++"}[language]
    subprocess.run([compiler, "-I", INCLUDE, str(source), "-o", str(program), "-L", libraries,
                    "-lascendcl"], check=True, timeout=300)
    env = dict(os.environ, LD_LIBRARY_PATH=libraries)
    assert subprocess.run([str(program)], env=env, timeout=300).returncode == 0


@pytest.mark.parametrize("one", api_table.LIBRARIES, ids=lambda one: one.name)
def test_library_exports_the_functions_of_the_table_alone(one):
    library = os.path.join(os.environ["ANYNPU_BUILD_DIR"], "lib", f"lib{one.name}.so")
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                             text=True, check=True, timeout=300).stdout
    names = {line.split()[-1] for line in symbols.splitlines()}
    exported = {name for name in names if not name.startswith("_Z")}
    rows = api_table.table.read_api([one])
    listed = {row.c_function for row in rows if row.c_signature}
    assert exported - {n for n in exported if n.startswith("anynpu_")} == listed


def test_type_stubs_name_every_function():
    folder = os.path.join(os.environ["ANYNPU_BUILD_DIR"], "python", "acl")
    for module in {row.module for row in api_table.PYTHON_ROWS}:
        with open(os.path.join(folder, f"{module or '__init__'}.pyi"), encoding="utf-8") as stub:
            body = ast.parse(stub.read()).body
        stubs = {n.name: [a.arg for a in n.args.posonlyargs] for n in body
                 if isinstance(n, ast.FunctionDef)}
        rows = [row for row in api_table.PYTHON_ROWS if row.module == module]
        assert stubs == {row.short_name: [a.name for a in row.arguments] for row in rows}
