// SPDX-License-Identifier: Apache-2.0
// Information about the Python program for the library: its path, because relative paths given to
// acl.init start there, and the calling line, for the message that a failed call prints.
#pragma once

namespace anynpu::pyacl {

// Passes sys.argv[0] to the library. No effect without one, as in -c and interactive use.
void tell_program_path();

// From now on failed calls name the line that called them.
void install_caller_place();

}  // namespace anynpu::pyacl
