// SPDX-License-Identifier: Apache-2.0
// Relocatable RV32 objects made of bare instructions: what a compiler would write, without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace anynpu::npc {

struct FunctionForTest {
  std::string name;
  std::vector<uint32_t> code;
};

// Instructions for such functions; a0, a1 ... hold the arguments of a kernel.
constexpr uint32_t kReturn = 0x00008067, kEcall = 0x00000073;
constexpr uint32_t kStoreA1AtA0 = 0x00b52023;  // sw a1, 0(a0)
constexpr uint32_t kLoadA2AtA0 = 0x00052603;   // lw a2, 0(a0)
constexpr uint32_t kStoreA2AtA1 = 0x00c5a023;  // sw a2, 0(a1)
constexpr uint32_t set_a7(uint32_t number) { return number << 20 | 17 << 7 | 0x13; }  // li a7

// Sections: none, the code, the symbols, and one table of names for symbols and sections.
inline std::vector<std::byte> object_of(const std::vector<FunctionForTest>& functions) {
  std::vector<uint32_t> code, symbols(4), sections;
  std::string names("\0.text\0", 7);
  for (const FunctionForTest& f : functions) {
    constexpr uint32_t kGlobalFunction = 1 << 4 | 2, kTextSection = 1 << 16;
    symbols.insert(symbols.end(),
                   {static_cast<uint32_t>(names.size()), static_cast<uint32_t>(code.size() * 4),
                    static_cast<uint32_t>(f.code.size() * 4), kGlobalFunction | kTextSection});
    names += f.name + '\0';
    code.insert(code.end(), f.code.begin(), f.code.end());
  }
  constexpr uint32_t kHeaderBytes = 52;
  const auto code_bytes = static_cast<uint32_t>(code.size() * 4);
  const auto symbol_bytes = static_cast<uint32_t>(symbols.size() * 4);
  const auto name_bytes = static_cast<uint32_t>(names.size());
  const uint32_t symbols_at = kHeaderBytes + code_bytes, names_at = symbols_at + symbol_bytes;
  const auto section = [&](uint32_t name, uint32_t type, uint32_t flags, uint32_t at,
                           uint32_t bytes, uint32_t link, uint32_t info, uint32_t entry) {
    sections.insert(sections.end(), {name, type, flags, 0, at, bytes, link, info, 4, entry});
  };
  section(0, 0, 0, 0, 0, 0, 0, 0);
  section(1, 1, 2 | 4, kHeaderBytes, code_bytes, 0, 0, 0);  // PROGBITS, in memory, executable
  section(0, 2, 0, symbols_at, symbol_bytes, 3, 1, 16);     // SYMTAB
  section(0, 3, 0, names_at, name_bytes, 0, 0, 0);          // STRTAB

  std::vector<std::byte> file(kHeaderBytes);
  const auto put = [&](size_t at, uint32_t value, size_t bytes) {
    std::memcpy(file.data() + at, &value, bytes);
  };
  std::memcpy(file.data(),
              "\x7f"
              "ELF\1\1\1",
              7);
  put(16, 1, 2);    // relocatable
  put(18, 243, 2);  // RISC-V
  put(20, 1, 4);
  put(32, names_at + name_bytes, 4);
  put(40, kHeaderBytes, 2);
  put(46, 40, 2);  // bytes of a section header
  put(48, 4, 2);
  put(50, 3, 2);  // names of sections
  const auto append = [&](const void* data, size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(data);
    file.insert(file.end(), begin, begin + bytes);
  };
  append(code.data(), code_bytes);
  append(symbols.data(), symbol_bytes);
  append(names.data(), name_bytes);
  append(sections.data(), sections.size() * 4);
  return file;
}

}  // namespace anynpu::npc
