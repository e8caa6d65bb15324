// SPDX-License-Identifier: Apache-2.0
// The .om files of the vendor's atc (docs/om_format.md): a header, tables of parts, the parts. Part
// 0 describes the model as a graph of operators (import/ge), part 1 holds its weights, the others
// are code and tasks for the chip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "import/ge/model_def.h"

namespace anynpu::om {

struct VendorPart {
  uint32_t type = 0;
  std::span<const std::byte> bytes;
};

struct VendorHeader {
  uint32_t version = 0, ir_version = 0;
  bool encrypted = false;
  uint8_t model_type = 0;  // 0 IR, 1 standard, 2 tiny, 3 flow, 4 lite, 5 bundle
  std::string name, user_text, platform;
  uint32_t model_count = 1;
  bool is_dynamic = false;
};

struct VendorFile {
  VendorHeader header;
  std::vector<std::vector<VendorPart>> models;  // the parts of each

  // Of the first model; empty when it has none of that type.
  std::span<const std::byte> part(uint32_t type) const;
};

constexpr uint32_t kVendorDescription = 0, kVendorWeights = 1;

// Whether the bytes begin as a file of the vendor's atc does.
bool is_vendor_file(std::span<const std::byte> bytes);
// `bytes` must outlive the file. Fails for files that are cut short, damaged or encrypted.
Result<VendorFile> read_vendor_file(std::span<const std::byte> bytes);
// The description in part 0.
Result<ge::ModelDef> read_vendor_description(const VendorFile& file);

// "weights", "task list": what a type of part holds.
std::string_view vendor_part_name(uint32_t type);
// What the file is: its name, chip and release, as far as it says.
std::string describe_vendor_file(const VendorFile& file, const ge::ModelDef* model);
// The command that makes a .om for AnyNPU from the source model: the recorded one, if any.
std::string vendor_command(const VendorFile& file, const ge::ModelDef* model);

// The graph of part 0 with the weights of part 1, converted from the chip's formats. The error
// lists every obstacle. `owner` keeps the file's bytes alive.
Result<graph::Graph> rebuild_vendor_graph(const VendorFile& file,
                                          std::shared_ptr<const void> owner);

}  // namespace anynpu::om
