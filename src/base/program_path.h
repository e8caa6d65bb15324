// SPDX-License-Identifier: Apache-2.0
// The folder of the running program, to which relative paths of the API refer. For a Python program
// it is the script's folder, not the interpreter's.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace anynpu {

// The folder of the script or executable: what set_program_path was given, else found out from
// /proc. Empty when unknown.
std::string program_folder();

// For language bindings that know the script better than the command line does (sys.argv[0]); also
// exported as the C function anynpu_set_program_path. Paths that do not exist are ignored.
void set_program_path(const char* path);

// The script in a command line of the Python interpreter; "" for -c, -m and interactive use.
std::string script_of(std::string_view cmdline_with_nuls);

// A relative path: the program's folder first, then the current one; the first that exists.
// Absolute paths are returned as they are. The error names both places.
Result<std::string> find_file(std::string_view path);

}  // namespace anynpu
