// SPDX-License-Identifier: Apache-2.0
namespace anynpu {

// The version of this build, as text.
const char* version() { return "0.1.0"; }

}  // namespace anynpu
