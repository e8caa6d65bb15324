// SPDX-License-Identifier: Apache-2.0
// Reads the debug sections of a device image. Damaged data gives less information, never a failure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace anynpu::npc {

struct ElfFile;
struct Image;

// The contents of a debug section with its relocations applied; empty when it is not there.
std::vector<std::byte> debug_section(const ElfFile& file, const Image& image,
                                     std::string_view name);

inline std::string_view string_at(std::span<const std::byte> table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
  return {begin, strnlen(begin, table.size() - offset)};
}

// Reads past the end give zeros and set `broken`.
class DwarfReader {
 public:
  explicit DwarfReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool broken() const { return broken_; }
  bool at_end() const { return broken_ || at_ >= bytes_.size(); }
  size_t position() const { return at_; }
  void skip(size_t count) { take(count); }

  uint64_t fixed(size_t count) {
    uint64_t value = 0;
    const std::byte* from = take(count);
    if (from && count <= 8) std::memcpy(&value, from, count);
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const uint64_t byte = fixed(1);
      value |= (byte & 127) << shift;
      if (!(byte & 128)) break;
    }
    return value;
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (int shift = 0; shift < 63;) {
      const uint64_t byte = fixed(1);
      value |= (byte & 127) << shift;
      shift += 7;
      if (byte & 128) continue;
      if (byte & 64) value |= ~uint64_t{0} << shift;
      break;
    }
    return static_cast<int64_t>(value);
  }
  std::string_view text() {
    if (at_end()) return {};
    const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const size_t length = strnlen(begin, bytes_.size() - at_);
    at_ = std::min(at_ + length + 1, bytes_.size());
    return {begin, length};
  }
  DwarfReader part(size_t count) {
    const std::byte* from = take(count);
    return DwarfReader(from ? std::span<const std::byte>(from, count)
                            : std::span<const std::byte>{});
  }

 private:
  const std::byte* take(size_t count) {
    if (broken_ || count > bytes_.size() - at_) {
      broken_ = true;
      return nullptr;
    }
    at_ += count;
    return bytes_.data() + at_ - count;
  }
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool broken_ = false;
};

}  // namespace anynpu::npc
