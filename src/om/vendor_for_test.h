// SPDX-License-Identifier: Apache-2.0
// A .om file as the vendor's atc lays it out, for the tests of its reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace anynpu::om {

inline std::string vendor_text(const std::vector<std::pair<uint32_t, std::string>>& parts) {
  std::string text(256, '\0');
  const auto put = [&](size_t at, const auto& value) {
    std::memcpy(text.data() + at, &value, sizeof value);
  };
  std::memcpy(text.data(), "IMOD", 4);
  put(4, uint32_t{256});
  put(8, uint32_t{0x20000000});
  std::memcpy(text.data() + 84, "net", 3);
  put(156, uint32_t{1});
  std::memcpy(text.data() + 160, "1.2", 3);
  std::string table(8 + parts.size() * 24, '\0'), data;
  const auto count = static_cast<uint32_t>(parts.size());
  std::memcpy(table.data(), &count, sizeof count);
  for (size_t n = 0; n < parts.size(); ++n) {
    const uint64_t offset = data.size(), size = parts[n].second.size();
    std::memcpy(table.data() + 8 + n * 24, &parts[n].first, sizeof(uint32_t));
    std::memcpy(table.data() + 8 + n * 24 + 8, &offset, sizeof offset);
    std::memcpy(table.data() + 8 + n * 24 + 16, &size, sizeof size);
    data += parts[n].second;
  }
  return text + table + data;
}

}  // namespace anynpu::om
