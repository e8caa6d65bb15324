// SPDX-License-Identifier: Apache-2.0
// What the library is told about the Python program: where it lies, because relative paths given to
// acl.init start there, and which line of it calls, for the line that a failed call prints.
#pragma once

namespace anynpu::pyacl {

// Hands sys.argv[0] to the library. No effect without one, as in -c and interactive use.
void tell_program_path();

// From now on failed calls name the line that called them.
void install_caller_place();

}  // namespace anynpu::pyacl
