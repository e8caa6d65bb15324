// SPDX-License-Identifier: Apache-2.0
// Source lines of code addresses, from the .debug_line section of an object (DWARF 5 and 4). Read
// when a trap is reported. Damaged or missing tables give fewer lines, never a failure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace anynpu::npc {

struct Image;

struct SourceLine {
  std::string file;
  uint32_t line = 0;
};

class LineTable {
 public:
  static LineTable read(const Image& image);
  std::optional<SourceLine> find(uint32_t address) const;
  // The name of file number `file` in the table at `unit` of .debug_line; empty when there is none.
  std::string file_name(uint32_t unit, uint32_t file) const;

  struct Row {
    uint32_t address = 0;
    uint32_t file = 0;  // index into files; kEnd marks the end of a sequence
    uint32_t line = 0;
  };
  static constexpr uint32_t kEnd = ~0u;

 private:
  std::vector<std::string> files_;
  std::map<uint32_t, std::vector<uint32_t>> units_;  // by offset: numbers to indices into files_
  std::vector<Row> rows_;                            // sorted by address
};

}  // namespace anynpu::npc
