// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

namespace anynpu {

// The version of this build, as text.
const char* version() { return kVersion.data(); }

}  // namespace anynpu
