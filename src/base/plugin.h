// SPDX-License-Identifier: Apache-2.0
// Optional parts of AnyNPU: shared libraries libanynpu_<name>.so beside libanynpu.so, linked to
// what they need (codecs) and opened whole on first use. A failed open is remembered as the reason
// that calls give and `anynpu doctor` prints. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace anynpu {

// The symbol of a plug-in, which stays open for ever. Fails with unsupported_feature and why.
Result<void*> plugin_symbol(const std::string& plugin, const char* symbol);

}  // namespace anynpu
