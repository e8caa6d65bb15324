// SPDX-License-Identifier: Apache-2.0
// Bytes of the header and section table of .om files; used only by the writers and readers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace anynpu::om {

static_assert(std::endian::native == std::endian::little, "the container is little-endian");

constexpr std::array<char, 8> kMagic = {'A', 'N', 'Y', 'N', 'P', 'U', 'O', 'M'};
constexpr std::array<char, 8> kBundleMagic = {'A', 'N', 'Y', 'N', 'P', 'U', 'B', 'D'};
constexpr size_t kAlignment = 64;
constexpr uint32_t kMaxSections = 64;

// A bundle has only sections of kind model: whole offline models.
enum class SectionKind : uint32_t { meta = 1, graph = 2, weights = 3, weight_files = 4, model = 5 };

struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t section_count;
  uint64_t file_size;
  uint32_t checksum;  // of header and section table, with this field zero
  uint32_t reserved[9];
};
static_assert(sizeof(Header) == 64);

struct Section {
  SectionKind kind;
  uint32_t checksum;  // of the section's bytes; 0 for a model, which has its own
  uint64_t offset;    // from the start of the file, a multiple of kAlignment
  uint64_t size;
  uint64_t reserved;
};
static_assert(sizeof(Section) == 32);

}  // namespace anynpu::om
