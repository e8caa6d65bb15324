# SPDX-License-Identifier: Apache-2.0
"""Our headers against the facts about the vendor's: every function's type, every struct's size and
fields, every enum value, every type name, each in the header that programs include for it."""
import os
import subprocess

import c_api_facts
import pytest
from build_tree import ROOT

COMPILER = {"c": ["cc", "-std=c11"], "c++": ["c++", "-std=c++17"]}
INCLUDE = os.path.join(ROOT, "include")


def compile_text(text, *options, language="c++"):
    command = [*COMPILER[language], "-fsyntax-only", "-w", "-x", language, *options, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    return done.returncode, "\n".join(errors) or done.stderr


@pytest.mark.parametrize("header", c_api_facts.headers())
def test_a_header_says_what_the_facts_say(header):
    code, errors = compile_text(c_api_facts.source(header), f"-I{INCLUDE}")
    assert code == 0, errors


# What build files of public programs pass, and how their sources name the headers then.
PATHS = {"above": (["include"], ["acl/acl.h", "acl/dvpp/hi_dvpp.h", "acl/ops/acl_dvpp.h"]),
         "in acl": (["include/acl"], ["acl.h", "acl_rt.h", "dvpp/hi_dvpp.h", "ops/acl_dvpp.h"]),
         "in dvpp": (["include/acl", "include/acl/dvpp"], ["acl.h", "hi_dvpp.h", "hi_mpi_sys.h"])}


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("where", PATHS)
def test_headers_are_found_by_the_paths_that_programs_pass(where, language):
    folders, names = PATHS[where]
    text = "\n".join(f'#include "{name}"' for name in names) + "\nint main(void) { return 0; }\n"
    code, errors = compile_text(text, *(f"-I{os.path.join(ROOT, f)}" for f in folders),
                                language=language)
    assert code == 0, errors


@pytest.mark.parametrize("header", c_api_facts.headers())
def test_a_header_stands_alone_in_c(header):
    code, errors = compile_text(f'#include "{header}"\n', f"-I{INCLUDE}", language="c")
    assert code == 0, errors


def test_the_macros_that_programs_use_are_there():
    text = """#include "acl/dvpp/hi_dvpp.h"
    #include "acl/acl.h"
    static_assert(ALIGN_UP(5, 16) == 16 && ALIGN_UP(32, 16) == 32, "ALIGN_UP");
    static_assert(ACL_MAJOR_VERSION == 1 && ACL_MINOR_VERSION == 17, "the version of acl");
    """
    code, errors = compile_text(text, f"-I{INCLUDE}")
    assert code == 0, errors


def test_a_wrong_fact_is_found():
    text = c_api_facts.source("acl/acl_base_rt.h") + 'static_assert(ACL_FLOAT == 1, "wrong");'
    code, errors = compile_text(text, f"-I{INCLUDE}")
    assert code != 0 and "wrong" in errors and len(errors.splitlines()) == 1


def test_the_tables_are_whole():
    assert len(c_api_facts.rows("functions")) == 1019
    assert sum(len(c_api_facts.assertions(header)) for header in c_api_facts.headers()) > 5000
    # Unions without a name are asserted by their members.
    without = [row for row in c_api_facts.rows("structs")
               if not list(c_api_facts.struct_assertions(row))]
    assert all(c_api_facts.NO_NAME.search(row["field"]) for row in without)
