// SPDX-License-Identifier: Apache-2.0
// The one file that holds {fmt}'s code: Debian has no static library of it, and a wheel should need
// no shared one. Other files see fmt/core.h alone and call no function of {fmt} that is not inline.
#define FMT_HEADER_ONLY
#include "base/format.h"

#include <fmt/format.h>

#include <iterator>

namespace anynpu::detail {

std::string float_text(double value) { return fmt::format("{:.6g}", value); }

std::string list_text(const std::vector<int64_t>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}{}", i ? ", " : "", values[i]);
  return out + "]";
}

std::string format_values(std::string_view text, fmt::format_args values) {
  return fmt::vformat({text.data(), text.size()}, values);
}

}  // namespace anynpu::detail
