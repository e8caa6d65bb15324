# SPDX-License-Identifier: Apache-2.0
"""C functions for every row that is not marked `works`, and the version script of a library."""
from table import c_functions

# What a function that cannot report an error code returns.
FAILED = {
    "void": "",
    "float": "0.0F",
    "size_t": "0",
    "int64_t": "-1",
    "uint32_t": "0",
    "uint16_t": "0",
    "aclFloat16": "0",
    "aclDataType": "ACL_DT_UNDEFINED",
    "aclFormat": "ACL_FORMAT_UNDEFINED",
    "const char*": '""',
    "HcclResult": "HCCL_E_NOT_SUPPORT",
}


def emit_refusals(rows, headers):
    out = [*(f'#include "{header}"' for header in headers),
           '#include "api/acl/errors.h"', "", "using anynpu::acl::refuse;", ""]
    for row in c_functions(rows):
        if row.status == "works":
            continue
        call = f'refuse("{row.c_function}", "{row.reason}")'
        out.append(f'extern "C" {row.c_signature} {{')
        is_code = row.c_return == "hi_s32" and any(r.name == "ret" for r in row.returns)
        if row.c_return == "aclError" or is_code:
            out.append(f"  return {call};")
        else:
            out.append(f"  {call};")
            failed = FAILED.get(row.c_return, "nullptr" if row.c_return.endswith("*") else "{}")
            if failed:
                out.append(f"  return {failed};")
        out += ["}", ""]
    return out


def emit_version_script(rows):
    """Exports the C functions; and, for sibling libraries, the front door's own C++ frame."""
    names = [f"    {row.c_function};" for row in c_functions(rows)]
    return ["{", "  global:", *names, "    anynpu_acl_*;",
            '    extern "C++" { anynpu::acl::*; };', "  local:", "    *;",
            "};"]


def emit_filter(rows, prefixes):
    """Symbols for the linker alone: the loader takes the functions from the filtered library. A
    prefix "*" stands for all functions."""
    starts = tuple("" if prefix == "*" else prefix for prefix in prefixes)
    names = [row.c_function for row in c_functions(rows) if row.c_function.startswith(starts)]
    return [f"void {name}(void) {{ __builtin_trap(); }}" for name in names] \
        or ["typedef int nothing_is_called;"]
