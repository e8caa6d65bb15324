# SPDX-License-Identifier: Apache-2.0
"""The source tree keeps its own rules (tests/lint/check_layers.py)."""

import importlib.util
import os
import warnings

import pytest
from build_tree import ROOT

_spec = importlib.util.spec_from_file_location(
    "check_layers", os.path.join(ROOT, "tests", "lint", "check_layers.py"))
layers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(layers)


def test_the_tree_keeps_its_rules():
    found = layers.findings()
    assert not found, "\n".join(found)
    for lines, name in layers.long_files():
        warnings.warn(f"{name} has {lines} lines", stacklevel=1)


@pytest.mark.parametrize("name, text, says", [
    ("src/base/a.cpp", '#include "device/stream.h"\n', "comes after it"),
    ("src/exec/a.cpp", '#include "compile/compile.h"\n', None),
    ("src/device/a.h", '#include "trace/trace.h"\n', None),
    ("src/device/a.h", '#include "acl/acl.h"\n', "only src/api"),
    ("src/device/a.h", '#include <acl/acl.h>\n', "only src/api"),
    ("src/api/acl/a.cpp", '#include "acl/acl.h"\n#include "api/acl/entry.h"\n', None),
    ("src/api/acl/a.cpp", '#include "api/hpe/entry.h"\n', "another one"),
    ("src/api/hpe/a.cpp", '#include "api/frame.h"\n', None),
    ("src/api/frame.h", '#include "api/failure.h"\n#include "base/status.h"\n', None),
    ("src/api/frame.h", '#include "api/acl/entry.h"\n', "another one"),
    ("src/extra/a.cpp", "", "not in src/modules.tsv"),
    ("src/ops/a.cpp", '#include "../graph/graph.h"\n', "from src/"),
])
def test_includes_follow_the_layers(name, text, says):
    found = list(layers.check_includes(name, text))
    assert bool(found) == (says is not None), found
    if says:
        assert says in found[0]


def test_spdx_names_and_machine_paths_are_found():
    assert list(layers.check_spdx("src/base/a.h", "#pragma once\n"))
    assert not list(layers.check_spdx("a.py", "#!/usr/bin/env python3\n"
                                      "# SPDX-License-Identifier: Apache-2.0\n"))
    assert list(layers.check_name("src/base/util.h", ""))
    assert list(layers.check_name("src/base/common_test.cpp", ""))
    assert not list(layers.check_name("src/base/status.h", ""))
    assert list(layers.check_paths("a.md", "see /ro" "ot/.cache"))
    assert list(layers.check_paths("a.md", "see /wo" "rk/x"))
    assert not list(layers.check_paths("a.md", "see src/wo" "rk/x and /home/HwHiAiUser"))


@pytest.mark.parametrize("files, says", [
    ([("src/ops/conv/a.cpp", '#include "ops/gemm/b.h"\n'),
      ("src/ops/gemm/b.h", '#include "ops/conv/c.h"\n')],
     "ops/conv -> ops/gemm -> ops/conv: src/ops/conv/a.cpp includes ops/gemm/b.h; "
     "src/ops/gemm/b.h includes ops/conv/c.h"),
    ([("src/ops/conv/a.cpp", '#include "ops/gemm/b.h"\n'),
      ("src/ops/gemm/b.h", '#include "ops/simd/c.h"\n'),
      ("src/ops/simd/c.h", '#include "ops/conv/d.h"\n')],
     "ops/conv -> ops/gemm -> ops/simd -> ops/conv"),
    ([("src/ops/kernel.h", '#include "ops/conv/a.h"\n'),
      ("src/ops/conv/a.h", '#include "ops/kernel.h"\n')], "ops -> ops/conv -> ops"),
    ([("src/base/a.h", '#include "trace/b.h"\n'), ("src/trace/b.h", '#include "base/c.h"\n')],
     "base -> trace -> base"),
    ([("src/ops/conv/a.cpp", '#include "ops/gemm/b.h"\n'),
      ("src/ops/gemm/b_test.cpp", '#include "ops/conv/c.h"\n')], None),
    ([("src/ops/conv/a.cpp", '#include "ops/gemm/b.h"\n'),
      ("src/ops/gemm/b.h", "#include <ops/conv/c.h>\n")], None),
])
def test_folders_do_not_include_each_other_in_a_ring(files, says):
    found = list(layers.cycles(layers.folder_graph(files)))
    assert bool(found) == (says is not None), found
    if says:
        assert len(found) == 1 and says in found[0]
