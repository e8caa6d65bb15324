// SPDX-License-Identifier: Apache-2.0
// Where the Python program lies: relative paths given to acl.init start there.
#pragma once

namespace anynpu::pyacl {

// Hands sys.argv[0] to the library. No effect without one, as in -c and interactive use.
void tell_program_path();

}  // namespace anynpu::pyacl
