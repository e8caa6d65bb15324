// SPDX-License-Identifier: Apache-2.0
#include "npc/line_table.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "npc/dwarf.h"
#include "npc/elf.h"
#include "npc/image.h"

namespace anynpu::npc {

namespace {

struct Strings {
  std::span<const std::byte> line, debug;
};

// One unit's header and line program.
class LineUnit {
 public:
  LineUnit(DwarfReader reader, const Strings& strings, std::vector<std::string>& files,
           std::vector<LineTable::Row>& rows)
      : r_(reader), strings_(strings), files_(files), rows_(rows) {}

  void read() {
    version_ = r_.fixed(2);
    if (version_ != 4 && version_ != 5) return;
    if (version_ == 5) r_.skip(2);  // sizes of addresses and segments
    DwarfReader header = r_.part(r_.fixed(4));
    min_length_ = header.fixed(1);
    header.skip(2);  // operations per instruction, default is_stmt
    line_base_ = static_cast<int8_t>(header.fixed(1));
    line_range_ = header.fixed(1);
    opcode_base_ = header.fixed(1);
    for (uint64_t i = 1; i < opcode_base_; ++i) lengths_.push_back(header.fixed(1));
    if (line_range_ == 0 || header.broken()) return;
    version_ == 5 ? read_names5(header) : read_names4(header);
    run();
  }

  const std::vector<uint32_t>& names() const { return names_; }

 private:
  struct Form {
    uint64_t content, form;
  };

  std::string_view read_form(DwarfReader& r, uint64_t form, uint64_t& number) {
    switch (form) {
      case 0x08:
        return r.text();  // string
      case 0x0e:
        return string_at(strings_.debug, r.fixed(4));  // strp
      case 0x1f:
        return string_at(strings_.line, r.fixed(4));  // line_strp
      case 0x0b:
        number = r.fixed(1);
        return {};
      case 0x05:
        number = r.fixed(2);
        return {};
      case 0x06:
        number = r.fixed(4);
        return {};
      case 0x0f:
        number = r.uleb();
        return {};
      case 0x1e:
        r.skip(16);
        return {};  // data16: MD5
      default:
        r.skip(~size_t{0} >> 1);
        return {};  // unknown: give the unit up
    }
  }

  std::vector<std::pair<std::string_view, uint64_t>> read_entries(DwarfReader& r) {
    std::vector<Form> forms;
    const uint64_t form_count = r.fixed(1);
    for (uint64_t i = 0; i < form_count; ++i) {
      const uint64_t content = r.uleb();
      forms.push_back({content, r.uleb()});
    }
    std::vector<std::pair<std::string_view, uint64_t>> entries;
    const uint64_t count = r.uleb();
    for (uint64_t i = 0; i < count && !r.at_end() && !forms.empty(); ++i) {
      std::pair<std::string_view, uint64_t> entry;
      for (const Form& form : forms) {
        uint64_t number = 0;
        const std::string_view text = read_form(r, form.form, number);
        if (form.content == 1) entry.first = text;
        if (form.content == 2) entry.second = number;
      }
      entries.push_back(entry);
    }
    return entries;
  }

  void add_file(std::string_view directory, std::string_view name) {
    std::string path(name);
    if (!directory.empty() && !name.starts_with("/")) path = std::string(directory) + "/" + path;
    names_.push_back(static_cast<uint32_t>(files_.size()));
    files_.push_back(std::move(path));
  }

  void read_names5(DwarfReader& r) {
    const auto directories = read_entries(r);
    for (const auto& [name, directory] : read_entries(r)) {
      // Directory 0 is where the compiler ran: paths relative to it stay as they were given.
      const bool known = directory > 0 && directory < directories.size();
      add_file(known ? directories[directory].first : std::string_view{}, name);
    }
  }

  void read_names4(DwarfReader& r) {
    std::vector<std::string_view> directories{{}};
    for (auto text = r.text(); !text.empty(); text = r.text()) directories.push_back(text);
    add_file({}, "?");  // files count from 1
    for (auto text = r.text(); !text.empty(); text = r.text()) {
      const uint64_t directory = r.uleb();
      r.uleb();
      r.uleb();
      add_file(directory < directories.size() ? directories[directory] : std::string_view{}, text);
    }
  }

  void emit(bool end) {
    const uint32_t file = file_ < names_.size() ? names_[file_] : LineTable::kEnd;
    rows_.push_back({address_, end ? LineTable::kEnd : file, line_});
  }
  void restart() { address_ = 0, line_ = 1, file_ = 1; }
  void advance(uint64_t operations) { address_ += static_cast<uint32_t>(operations * min_length_); }

  void extended() {
    const uint64_t length = r_.uleb();
    DwarfReader body = r_.part(length);
    switch (body.fixed(1)) {
      case 1:
        emit(true);
        restart();
        break;
      case 2:
        address_ = static_cast<uint32_t>(body.fixed(4));
        break;
      default:
        break;
    }
  }

  void standard(uint64_t opcode) {
    switch (opcode) {
      case 1:
        emit(false);
        break;
      case 2:
        advance(r_.uleb());
        break;
      case 3:
        line_ = static_cast<uint32_t>(line_ + r_.sleb());
        break;
      case 4:
        file_ = r_.uleb();
        break;
      case 8:
        advance((255 - opcode_base_) / line_range_);
        break;
      case 9:
        address_ += static_cast<uint32_t>(r_.fixed(2));
        break;
      default:
        for (uint64_t i = 0; i < lengths_[opcode - 1]; ++i) r_.uleb();
    }
  }

  void run() {
    restart();
    while (!r_.at_end()) {
      const uint64_t opcode = r_.fixed(1);
      if (opcode >= opcode_base_) {
        const uint64_t special = opcode - opcode_base_;
        advance(special / line_range_);
        line_ =
            static_cast<uint32_t>(line_ + line_base_ + static_cast<int64_t>(special % line_range_));
        emit(false);
      } else if (opcode == 0) {
        extended();
      } else {
        standard(opcode);
      }
    }
  }

  DwarfReader r_;
  const Strings& strings_;
  std::vector<std::string>& files_;
  std::vector<LineTable::Row>& rows_;
  std::vector<uint32_t> names_;  // of this unit: indices into files_
  std::vector<uint64_t> lengths_;
  uint64_t version_ = 0, min_length_ = 1, line_range_ = 0, opcode_base_ = 0, file_ = 1;
  int64_t line_base_ = 0;
  uint32_t address_ = 0, line_ = 1;
};

}  // namespace

LineTable LineTable::read(const Image& image) {
  LineTable table;
  auto parsed = ElfFile::parse(image.object);
  if (!parsed.ok()) return table;
  const ElfFile& file = parsed.value();
  const auto lines = debug_section(file, image, ".debug_line");
  const auto line_strings = debug_section(file, image, ".debug_line_str");
  const auto strings = debug_section(file, image, ".debug_str");
  const Strings names{line_strings, strings};
  DwarfReader reader(lines);
  while (!reader.at_end()) {
    const size_t start = reader.position();
    const uint64_t length = reader.fixed(4);
    if (length >= 0xfffffff0u) break;  // 64-bit DWARF does not occur here
    LineUnit unit(reader.part(length), names, table.files_, table.rows_);
    unit.read();
    table.units_[static_cast<uint32_t>(start)] = unit.names();
  }
  std::stable_sort(table.rows_.begin(), table.rows_.end(), [](const Row& a, const Row& b) {
    // Where one sequence ends and the next begins, the beginning counts.
    if (a.address != b.address) return a.address < b.address;
    return a.file == kEnd && b.file != kEnd;
  });
  return table;
}

std::string LineTable::file_name(uint32_t unit, uint32_t file) const {
  const auto names = units_.find(unit);
  if (names == units_.end() || file >= names->second.size()) return {};
  return names->second[file] < files_.size() ? files_[names->second[file]] : std::string();
}

std::optional<SourceLine> LineTable::find(uint32_t address) const {
  auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
                                [](uint32_t a, const Row& row) { return a < row.address; });
  if (after == rows_.begin()) return std::nullopt;
  const Row& row = *std::prev(after);
  if (row.file == kEnd || row.line == 0) return std::nullopt;
  return SourceLine{files_[row.file], row.line};
}

}  // namespace anynpu::npc
