// SPDX-License-Identifier: Apache-2.0
// Reads a relocatable RV32 ELF object out of memory. Every offset, size, index and name is checked
// against the file, so that what parse() returns can be used without further tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu::npc {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint32_t flags = 0;
  uint32_t bytes = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint32_t align = 1;               // a power of two, at most 4096
  std::span<const std::byte> data;  // empty for sections without contents in the file

  static constexpr uint32_t kNull = 0, kProgbits = 1, kSymtab = 2, kRela = 4, kNobits = 8,
                            kInitArray = 14;
  static constexpr uint32_t kWrite = 1, kAlloc = 2, kExecute = 4, kThread = 0x400;
  bool has(uint32_t flag) const { return (flags & flag) != 0; }
};

struct ElfSymbol {
  std::string_view name;
  uint32_t value = 0;
  uint32_t bytes = 0;
  uint8_t binding = 0;                                  // 0 local, 1 global, 2 weak
  static constexpr uint8_t kObject = 1, kFunction = 2;  // 3: a section
  uint8_t type = 0;
  uint16_t section = 0;

  static constexpr uint16_t kUndefined = 0, kAbsolute = 0xfff1, kCommon = 0xfff2;
};

struct ElfRelocation {
  uint32_t offset = 0;
  uint32_t type = 0;
  uint32_t symbol = 0;  // index into symbols
  int32_t addend = 0;
};

struct ElfFile {
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;

  // Views point into `file`. Code file_invalid; file_not_found for no bytes at all.
  static Result<ElfFile> parse(std::span<const std::byte> file);
  // Entries of a relocation section.
  std::vector<ElfRelocation> relocations(const ElfSection& section) const;
};

}  // namespace anynpu::npc
