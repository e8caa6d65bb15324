// SPDX-License-Identifier: Apache-2.0
#include "npc/debug_info.h"

#include <map>
#include <utility>

#include "npc/dwarf.h"
#include "npc/elf.h"
#include "npc/image.h"

namespace anynpu::npc {

namespace entries {

enum Tag : uint64_t {
  kPointerType = 0x0f,
  kReferenceType = 0x10,
  kCompileUnit = 0x11,
  kTypedef = 0x16,
  kVariadic = 0x18,
  kInlined = 0x1d,
  kBaseType = 0x24,
  kConst = 0x26,
  kSubprogram = 0x2e,
  kVolatile = 0x35,
  kParameter = 0x05,
  kEnumeration = 0x04,
};

enum Attribute : uint64_t {
  kName = 0x03,
  kByteSize = 0x0b,
  kLineTable = 0x10,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kOrigin = 0x31,
  kEncoding = 0x3e,
  kSpecification = 0x47,
  kType = 0x49,
  kRanges = 0x55,
  kCallFile = 0x58,
  kCallLine = 0x59,
  kLinkageName = 0x6e,
  kStringBase = 0x72,
  kAddressBase = 0x73,
  kRangeBase = 0x74,
};

struct Abbreviation {
  uint64_t tag = 0;
  bool children = false;
  struct Field {
    uint64_t attribute, form;
    int64_t constant;
  };
  std::vector<Field> fields;
};

// One entry of the tree, with the attributes that matter here.
struct DebugInfoEntry {
  uint64_t tag = 0;
  size_t depth = 0;
  std::string_view name, linkage;
  uint64_t low = 0, high = 0, ranges = 0, origin = 0, type = 0;
  uint64_t bytes = 0, encoding = 0, file = 0, line = 0;
  bool has_low = false, high_is_size = false, has_ranges = false, ranges_by_index = false;
};

constexpr size_t kMostEntries = 1'000'000;

}  // namespace entries

using namespace entries;

class InfoReader {
 public:
  InfoReader(const ElfFile& file, const Image& image, DebugInfo& into) : into_(into) {
    const auto get = [&](const char* name) { return debug_section(file, image, name); };
    info_ = get(".debug_info");
    abbreviations_ = get(".debug_abbrev");
    strings_ = get(".debug_str");
    line_strings_ = get(".debug_line_str");
    string_offsets_ = get(".debug_str_offsets");
    addresses_ = get(".debug_addr");
    ranges_ = get(".debug_rnglists");
  }

  void run() {
    DwarfReader all(info_);
    while (!all.at_end()) {
      const size_t start = all.position();
      const uint64_t length = all.fixed(4);
      if (length >= 0xfffffff0u) break;
      const size_t header = all.position();
      unit(all.part(length), start, header);
    }
    collect();
  }

 private:
  void unit(DwarfReader r, size_t start, size_t header) {
    const uint64_t version = r.fixed(2);
    uint64_t table = 0;
    if (version == 5) {
      const uint64_t type = r.fixed(1);
      r.skip(1);
      table = r.fixed(4);
      if (type != 1) return;
    } else if (version == 4) {
      table = r.fixed(4);
      r.skip(1);
    } else {
      return;
    }
    unit_start_ = start;
    string_base_ = address_base_ = 8;
    range_base_ = 12;
    line_table_ = 0;
    const auto kinds = read_abbreviations(table);
    for (size_t depth = 0; !r.at_end() && entries_.size() < kMostEntries;) {
      const uint64_t offset = header + r.position();
      const uint64_t code = r.uleb();
      if (code == 0) {
        if (depth == 0) break;
        --depth;
        continue;
      }
      const auto kind = kinds.find(code);
      if (kind == kinds.end()) break;
      DebugInfoEntry entry;
      entry.tag = kind->second.tag;
      entry.depth = depth;
      // Bases come in the first entry, sometimes behind what needs them: read it twice.
      if (depth == 0) {
        DwarfReader again = r;
        DebugInfoEntry ignored;
        for (const auto& field : kind->second.fields) read_field(again, field, ignored);
      }
      for (const auto& field : kind->second.fields) read_field(r, field, entry);
      order_.emplace_back(offset, line_table_);
      places_.push_back({string_base_, address_base_, range_base_});
      entries_.emplace(offset, entry);
      if (kind->second.children) ++depth;
    }
  }

  std::map<uint64_t, Abbreviation> read_abbreviations(uint64_t offset) const {
    std::map<uint64_t, Abbreviation> kinds;
    if (offset >= abbreviations_.size()) return kinds;
    DwarfReader r(std::span<const std::byte>(abbreviations_).subspan(offset));
    while (!r.at_end()) {
      const uint64_t code = r.uleb();
      if (code == 0) break;
      Abbreviation& kind = kinds[code];
      kind = {};
      kind.tag = r.uleb();
      kind.children = r.fixed(1) != 0;
      while (!r.at_end()) {
        Abbreviation::Field field{r.uleb(), r.uleb(), 0};
        if (field.form == 0x21) field.constant = r.sleb();
        if (field.attribute == 0 && field.form == 0) break;
        kind.fields.push_back(field);
      }
    }
    return kinds;
  }

  uint64_t word_in(const std::vector<std::byte>& table, uint64_t base, uint64_t index) const {
    const uint64_t at = base + index * 4;
    if (index > table.size() || at + 4 > table.size()) return 0;
    uint32_t word;
    std::memcpy(&word, table.data() + at, 4);
    return word;
  }

  struct FormValue {
    uint64_t number = 0;
    std::string_view text = {};
    bool is_address = false, is_index = false;
  };

  FormValue string_by_index(uint64_t index) const {
    return {index, string_at(strings_, word_in(string_offsets_, string_base_, index))};
  }
  FormValue address_by_index(uint64_t index) const {
    return {word_in(addresses_, address_base_, index), {}, true};
  }

  FormValue read_form(DwarfReader& r, const Abbreviation::Field& field) const {
    switch (field.form) {
      case 0x01:
        return {r.fixed(4), {}, true};
      case 0x03:
        return r.skip(r.fixed(2)), FormValue{};
      case 0x04:
        return r.skip(r.fixed(4)), FormValue{};
      case 0x05:
        return {r.fixed(2)};
      case 0x06:
      case 0x17:
        return {r.fixed(4)};
      case 0x07:
      case 0x20:
        return {r.fixed(8)};
      case 0x08:
        return {0, r.text()};
      case 0x09:
      case 0x18:
        return r.skip(r.uleb()), FormValue{};
      case 0x0a:
        return r.skip(r.fixed(1)), FormValue{};
      case 0x0b:
      case 0x0c:
        return {r.fixed(1)};
      case 0x0d:
        return {static_cast<uint64_t>(r.sleb())};
      case 0x0e:
        return {0, string_at(strings_, r.fixed(4))};
      case 0x0f:
        return {r.uleb()};
      case 0x10:
        return {r.fixed(4)};
      case 0x11:
        return {unit_start_ + r.fixed(1)};
      case 0x12:
        return {unit_start_ + r.fixed(2)};
      case 0x13:
        return {unit_start_ + r.fixed(4)};
      case 0x14:
        return {unit_start_ + r.fixed(8)};
      case 0x15:
        return {unit_start_ + r.uleb()};
      case 0x19:
        return {1};
      case 0x1a:
        return string_by_index(r.uleb());
      case 0x1b:
        return address_by_index(r.uleb());
      case 0x1e:
        return r.skip(16), FormValue{};
      case 0x1f:
        return {0, string_at(line_strings_, r.fixed(4))};
      case 0x21:
        return {static_cast<uint64_t>(field.constant)};
      case 0x22:
        return {r.uleb()};
      case 0x23:
        return {r.uleb(), {}, false, true};
      case 0x25:
      case 0x26:
      case 0x27:
      case 0x28:
        return string_by_index(r.fixed(field.form - 0x24));
      case 0x29:
      case 0x2a:
      case 0x2b:
      case 0x2c:
        return address_by_index(r.fixed(field.form - 0x28));
      default:
        return r.skip(SIZE_MAX), FormValue{};  // not known: the rest of the unit is lost
    }
  }

  void read_field(DwarfReader& r, const Abbreviation::Field& field, DebugInfoEntry& entry) {
    const FormValue value = read_form(r, field);
    switch (field.attribute) {
      case kName:
        entry.name = value.text;
        break;
      case kLinkageName:
        entry.linkage = value.text;
        break;
      case kByteSize:
        entry.bytes = value.number;
        break;
      case kEncoding:
        entry.encoding = value.number;
        break;
      case kLowPc:
        entry.low = value.number;
        entry.has_low = true;
        break;
      case kHighPc:
        entry.high = value.number;
        entry.high_is_size = !value.is_address;
        break;
      case kRanges:
        entry.ranges = value.number;
        entry.has_ranges = true;
        entry.ranges_by_index = value.is_index;
        break;
      case kOrigin:
      case kSpecification:
        entry.origin = value.number;
        break;
      case kType:
        entry.type = value.number;
        break;
      case kCallFile:
        entry.file = value.number;
        break;
      case kCallLine:
        entry.line = value.number;
        break;
      case kLineTable:
        line_table_ = value.number;
        break;
      case kStringBase:
        string_base_ = value.number;
        break;
      case kAddressBase:
        address_base_ = value.number;
        break;
      case kRangeBase:
        range_base_ = value.number;
        break;
      default:
        break;
    }
  }

  const DebugInfoEntry* find(uint64_t offset) const {
    const auto found = entries_.find(offset);
    return found == entries_.end() ? nullptr : &found->second;
  }

  std::string_view name_of(const DebugInfoEntry& entry, bool linkage) const {
    const DebugInfoEntry* at = &entry;
    std::string_view plain;
    for (int steps = 0; at && steps < 4; ++steps) {
      if (linkage && !at->linkage.empty()) return at->linkage;
      if (plain.empty()) plain = at->name;
      if (!linkage && !plain.empty()) break;
      at = at->origin ? find(at->origin) : nullptr;
    }
    return plain;
  }

  DebugInfo::Parameter parameter_of(const DebugInfoEntry& entry) const {
    DebugInfo::Parameter p;
    p.name = name_of(entry, false);
    const DebugInfoEntry* type = &entry;
    for (int steps = 0; type && steps < 16; ++steps) {
      switch (type->tag) {
        case kPointerType:
        case kReferenceType:
          p.kind = DebugInfo::Parameter::pointer;
          p.bytes = 4;
          return p;
        case kBaseType:
          p.kind = type->encoding == 4   ? DebugInfo::Parameter::floating
                   : type->encoding == 2 ? DebugInfo::Parameter::boolean
                                         : DebugInfo::Parameter::integer;
          p.is_signed = type->encoding == 5 || type->encoding == 6;
          p.bytes = static_cast<uint32_t>(type->bytes);
          return p;
        case kParameter:
          if (type->type == 0 && type->origin != 0) {
            type = find(type->origin);
            continue;
          }
          [[fallthrough]];
        case kEnumeration:
        case kTypedef:
        case kConst:
        case kVolatile:
          type = type->type ? find(type->type) : nullptr;
          continue;
        default:
          p.bytes = static_cast<uint32_t>(type->bytes);
          return p;
      }
    }
    return p;
  }

  using Pieces = std::vector<std::pair<uint32_t, uint32_t>>;
  Pieces pieces_of(const DebugInfoEntry& entry, size_t index) const {
    if (entry.has_low && entry.high != 0) {
      const uint64_t high = entry.high_is_size ? entry.low + entry.high : entry.high;
      return {{static_cast<uint32_t>(entry.low), static_cast<uint32_t>(high)}};
    }
    if (!entry.has_ranges) return {};
    const auto& bases = places_[index];
    const uint64_t at = entry.ranges_by_index
                            ? bases.ranges + word_in(ranges_, bases.ranges, entry.ranges)
                            : entry.ranges;
    if (at >= ranges_.size()) return {};
    Pieces pieces;
    DwarfReader r(std::span<const std::byte>(ranges_).subspan(at));
    uint64_t base = 0;
    const auto address = [&](uint64_t i) { return word_in(addresses_, bases.addresses, i); };
    while (!r.at_end() && pieces.size() < 10'000) {
      uint64_t low = 0, high = 0;
      switch (r.fixed(1)) {
        case 1:
          base = address(r.uleb());
          continue;
        case 2:
          low = address(r.uleb());
          high = address(r.uleb());
          break;
        case 3:
          low = address(r.uleb());
          high = low + r.uleb();
          break;
        case 4:
          low = base + r.uleb();
          high = base + r.uleb();
          break;
        case 5:
          base = r.fixed(4);
          continue;
        case 6:
          low = r.fixed(4);
          high = r.fixed(4);
          break;
        case 7:
          low = r.fixed(4);
          high = low + r.uleb();
          break;
        default:
          return pieces;
      }
      pieces.emplace_back(static_cast<uint32_t>(low), static_cast<uint32_t>(high));
    }
    return pieces;
  }

  void collect() {
    for (size_t i = 0; i < order_.size(); ++i) {
      const DebugInfoEntry& entry = entries_.at(order_[i].first);
      if (entry.tag == kSubprogram && (entry.has_low || entry.has_ranges)) add_function(entry, i);
      if (entry.tag != kInlined) continue;
      for (const auto& [low, high] : pieces_of(entry, i)) {
        into_.inlined_.push_back(
            {low, high, std::string(name_of(entry, true)), static_cast<uint32_t>(order_[i].second),
             static_cast<uint32_t>(entry.file), static_cast<uint32_t>(entry.line),
             static_cast<uint32_t>(entry.depth)});
      }
    }
  }

  void add_function(const DebugInfoEntry& entry, size_t index) {
    DebugInfo::Function function;
    function.name = name_of(entry, true);
    for (size_t i = index + 1; i < order_.size(); ++i) {
      const DebugInfoEntry& child = entries_.at(order_[i].first);
      if (child.depth <= entry.depth) break;
      if (child.depth != entry.depth + 1) continue;
      if (child.tag == kParameter) function.parameters.push_back(parameter_of(child));
      if (child.tag == kVariadic) function.variadic = true;
    }
    into_.functions_.push_back(std::move(function));
  }

  struct Bases {
    uint64_t strings, addresses, ranges;
  };

  DebugInfo& into_;
  std::vector<std::byte> info_, abbreviations_, strings_, line_strings_, string_offsets_,
      addresses_, ranges_;
  std::map<uint64_t, DebugInfoEntry> entries_;        // by offset
  std::vector<std::pair<uint64_t, uint64_t>> order_;  // offset, line table of its unit
  std::vector<Bases> places_;                         // beside order_
  uint64_t unit_start_ = 0, string_base_ = 0, address_base_ = 0, range_base_ = 0, line_table_ = 0;
};

DebugInfo DebugInfo::read(const Image& image) {
  DebugInfo info;
  const auto file = ElfFile::parse(image.object);
  if (file.ok()) InfoReader(file.value(), image, info).run();
  return info;
}

const DebugInfo::Function* DebugInfo::function(const std::string& linkage_name) const {
  for (const Function& f : functions_) {
    if (f.name == linkage_name) return &f;
  }
  return nullptr;
}

std::vector<DebugInfo::Inlined> DebugInfo::inlined_at(uint32_t address) const {
  std::vector<Inlined> found;
  for (const Inlined& piece : inlined_) {
    if (address >= piece.low && address < piece.high) found.push_back(piece);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Inlined& a, const Inlined& b) { return a.depth > b.depth; });
  return found;
}

}  // namespace anynpu::npc
