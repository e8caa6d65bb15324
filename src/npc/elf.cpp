// SPDX-License-Identifier: Apache-2.0
#include "npc/elf.h"

#include <bit>
#include <cstring>

namespace anynpu::npc {

namespace {

using Bytes = std::span<const std::byte>;

uint32_t word_at(Bytes bytes, size_t offset) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + offset, 4);
  return value;
}
uint16_t short_at(Bytes bytes, size_t offset) {
  uint16_t value;
  std::memcpy(&value, bytes.data() + offset, 2);
  return value;
}

constexpr size_t kHeaderBytes = 52, kSectionBytes = 40, kSymbolBytes = 16, kRelaBytes = 12;

const char kWhatToDo[] = "load what stc-ld.lld -r wrote";

Status refuse(std::string_view what) {
  return fail(Code::file_invalid, "device image: {}; {}", what, kWhatToDo);
}

Status check_header(Bytes file) {
  static constexpr uint8_t kMagic[] = {0x7f, 'E', 'L', 'F'};
  if (file.empty()) {
    return fail(Code::file_not_found, "device image: it has no bytes; {}", kWhatToDo);
  }
  if (file.size() < 4 || std::memcmp(file.data(), kMagic, 4) != 0) return refuse("not an ELF file");
  if (file.size() < kHeaderBytes) return refuse("the ELF header is cut off");
  if (file[4] != std::byte{1} || file[5] != std::byte{1}) {
    return refuse("not a 32-bit little-endian ELF file");
  }
  const uint16_t machine = short_at(file, 18);
  if (machine != 243) {
    return refuse(format("compiled for machine {}, expected 243 (RISC-V)", machine));
  }
  const uint16_t type = short_at(file, 16);
  if (type != 1) return refuse(format("ELF type {}, expected 1 (relocatable)", type));
  const uint32_t flags = word_at(file, 36);
  if ((flags & 0x0e) != 0) {
    return refuse(
        format("float or embedded ABI {:#x}, expected ilp32 as stc-clang compiles", flags));
  }
  if (short_at(file, 46) != kSectionBytes) return refuse("section headers of an unknown size");
  return {};
}

Result<std::string_view> text_at(Bytes table, uint32_t offset) {
  if (offset >= table.size()) return refuse("a name lies outside its table");
  const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
  const void* end = std::memchr(begin, 0, table.size() - offset);
  if (!end) return refuse("a name has no end");
  return std::string_view(begin, static_cast<const char*>(end) - begin);
}

Result<ElfSection> read_section(Bytes file, Bytes header) {
  ElfSection s;
  s.type = word_at(header, 4);
  if (s.type == ElfSection::kNull) return s;  // the other fields of such a header mean nothing
  s.flags = word_at(header, 8);
  const uint32_t offset = word_at(header, 16);
  s.bytes = word_at(header, 20);
  s.link = word_at(header, 24);
  s.info = word_at(header, 28);
  s.align = word_at(header, 32) == 0 ? 1 : word_at(header, 32);
  if (s.type != ElfSection::kNobits) {
    if (offset > file.size() || s.bytes > file.size() - offset) {
      return refuse(format("a section of {} bytes at {} lies outside the file of {}", s.bytes,
                           offset, file.size()));
    }
    s.data = file.subspan(offset, s.bytes);
  }
  if (!std::has_single_bit(s.align) || s.align > 4096) {
    return refuse(
        format("a section is aligned to {}, expected a power of two up to 4096", s.align));
  }
  if (s.type == ElfSection::kNobits && s.bytes > (512u << 20)) {
    return refuse(
        format("a section of {} bytes without contents, at most 512 MiB are taken", s.bytes));
  }
  return s;
}

Status read_sections(Bytes file, ElfFile& out) {
  const uint32_t table = word_at(file, 32);
  const uint16_t count = short_at(file, 48);
  const uint16_t names = short_at(file, 50);
  if (table > file.size() || size_t{count} * kSectionBytes > file.size() - table) {
    return refuse("the section headers are cut off");
  }
  for (uint16_t i = 0; i < count; ++i) {
    ANYNPU_ASSIGN(auto section,
                  read_section(file, file.subspan(table + i * kSectionBytes, kSectionBytes)));
    out.sections.push_back(section);
  }
  if (names >= count) return refuse("there are no section names");
  for (uint16_t i = 0; i < count; ++i) {
    const uint32_t offset = word_at(file, table + i * kSectionBytes);
    ANYNPU_ASSIGN(out.sections[i].name, text_at(out.sections[names].data, offset));
  }
  return {};
}

Status read_symbols(ElfFile& out, const ElfSection& table) {
  if (table.bytes % kSymbolBytes != 0) return refuse("the symbol table has a broken size");
  if (table.link >= out.sections.size()) return refuse("the symbol table has no names");
  const Bytes names = out.sections[table.link].data;
  for (size_t at = 0; at < table.bytes; at += kSymbolBytes) {
    ElfSymbol s;
    ANYNPU_ASSIGN(s.name, text_at(names, word_at(table.data, at)));
    s.value = word_at(table.data, at + 4);
    s.bytes = word_at(table.data, at + 8);
    const auto info = static_cast<uint8_t>(table.data[at + 12]);
    s.binding = info >> 4;
    s.type = info & 15;
    s.section = short_at(table.data, at + 14);
    if (s.section == ElfSymbol::kCommon) {
      return refuse(format("'{}' is a common symbol; compile with -fno-common", s.name));
    }
    if (s.section != ElfSymbol::kAbsolute && s.section >= out.sections.size()) {
      return refuse(format("symbol '{}' lies in section {}, there are {}", s.name, s.section,
                           out.sections.size()));
    }
    out.symbols.push_back(s);
  }
  return {};
}

Status check_relocations(const ElfFile& file, const ElfSection& section) {
  if (section.bytes % kRelaBytes != 0) return refuse("a relocation table has a broken size");
  if (section.info >= file.sections.size()) return refuse("relocations for no section");
  const uint32_t target = file.sections[section.info].bytes;
  for (const ElfRelocation& r : file.relocations(section)) {
    if (r.symbol >= file.symbols.size()) return refuse("a relocation names no symbol");
    if (r.offset >= target && r.type != 51) {  // 51: a mark at the end of a section may be there
      return refuse(
          format("a relocation at {} lies outside its section of {} bytes", r.offset, target));
    }
  }
  return {};
}

}  // namespace

Result<ElfFile> ElfFile::parse(std::span<const std::byte> file) {
  ElfFile out;
  ANYNPU_TRY(check_header(file));
  ANYNPU_TRY(read_sections(file, out));
  for (size_t i = 0; i < out.sections.size(); ++i) {
    if (out.sections[i].type != ElfSection::kSymtab) continue;
    if (!out.symbols.empty()) return refuse("two symbol tables");
    ANYNPU_TRY(read_symbols(out, out.sections[i]));
  }
  for (const ElfSection& section : out.sections) {
    if (section.type == ElfSection::kRela) ANYNPU_TRY(check_relocations(out, section));
  }
  return out;
}

std::vector<ElfRelocation> ElfFile::relocations(const ElfSection& section) const {
  std::vector<ElfRelocation> out;
  for (size_t at = 0; at + kRelaBytes <= section.data.size(); at += kRelaBytes) {
    const uint32_t info = word_at(section.data, at + 4);
    out.push_back({word_at(section.data, at), info & 255, info >> 8,
                   static_cast<int32_t>(word_at(section.data, at + 8))});
  }
  return out;
}

}  // namespace anynpu::npc
