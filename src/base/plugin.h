// SPDX-License-Identifier: Apache-2.0
// Optional parts of AnyNPU: shared libraries libanynpu_<name>.so beside libanynpu.so, which link
// what they need (codecs) and are opened on first use. If that fails, the reason is kept: calls
// return it and `anynpu doctor` prints it. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace anynpu {

// A symbol of a plug-in, which stays open forever. Fails with unsupported_feature and why.
Result<void*> plugin_symbol(const std::string& plugin, const char* symbol);

}  // namespace anynpu
