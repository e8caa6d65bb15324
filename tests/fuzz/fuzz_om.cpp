// SPDX-License-Identifier: Apache-2.0
// Any bytes as an offline model or a bundle of them, as they are and with checksums that fit, so
// that what lies behind them is reached too. What is read is planned and run.
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "om/bundle.h"
#include "om/container.h"
#include "om/layout.h"
#include "run_model.h"

namespace {

using namespace anynpu;

void repair(std::span<std::byte> bytes) {
  om::Header header;
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.file_size = bytes.size();
  header.checksum = 0;
  const size_t most = (bytes.size() - sizeof header) / sizeof(om::Section);
  const size_t count = std::min<size_t>(header.section_count, most);
  std::vector<om::Section> table(count);
  if (count > 0) std::memcpy(table.data(), bytes.data() + sizeof header, count * sizeof table[0]);
  for (om::Section& section : table) {
    if (section.offset > bytes.size() || section.size > bytes.size() - section.offset) continue;
    const auto content = bytes.subspan(section.offset, section.size);
    const bool is_model = content.size() >= sizeof om::kMagic &&
                          std::memcmp(content.data(), &om::kMagic, sizeof om::kMagic) == 0;
    if (header.magic == om::kBundleMagic && is_model) repair(content);
    section.checksum = crc32c(content);
  }
  if (count > 0) std::memcpy(bytes.data() + sizeof header, table.data(), count * sizeof table[0]);
  header.checksum =
      crc32c(std::as_bytes(std::span(table)), crc32c(std::as_bytes(std::span(&header, 1))));
  std::memcpy(bytes.data(), &header, sizeof header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  (void)om::read_copy(bytes).ok();
  repair(bytes);
  if (const auto models = om::read_bundle_copy(bytes); models.ok()) {
    for (const om::Model& model : *models) fuzz::run_model(model, {data, size});
  }
  (void)om::read_meta(bytes).ok();
  auto model = om::read_copy(bytes);
  if (model.ok()) fuzz::run_model(std::move(*model), {data, size});
  return 0;
}
