// SPDX-License-Identifier: Apache-2.0
#include "om/sections.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/align.h"
#include "base/crc32c.h"

namespace anynpu::om {

namespace {

// The first bytes of a file that the vendor's atc wrote.
constexpr std::array<char, 4> kVendorMagic = {'I', 'M', 'O', 'D'};

bool starts_with(Bytes bytes, std::span<const char> magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Result<std::vector<Section>> read_table(Bytes bytes, const Form& form) {
  ANYNPU_TRY(check_start(bytes, form));
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version > kFormatVersion) {
    return fail(Code::version_mismatch,
                "the {} has format version {}, this AnyNPU reads up to {}; use a newer AnyNPU or "
                "{}",
                form.noun, header.version, kFormatVersion, form.remedy);
  }
  if (header.file_size != bytes.size()) {
    return fail(Code::corrupt_model,
                "the {} has {} bytes, its header says {}; the file is cut short or damaged, {}",
                form.noun, bytes.size(), header.file_size, form.remedy);
  }
  const size_t table_size = size_t{header.section_count} * sizeof(Section);
  if (header.version == 0 || header.section_count > kMaxSections ||
      table_size > bytes.size() - sizeof header) {
    return fail(Code::corrupt_model, "the header of the {} is damaged; {}", form.noun, form.remedy);
  }
  const uint32_t stored = header.checksum;
  header.checksum = 0;
  const Bytes table = bytes.subspan(sizeof header, table_size);
  if (crc32c(table, crc32c(std::as_bytes(std::span(&header, 1)))) != stored) {
    return fail(Code::corrupt_model, "the header of the {} fails its checksum; {}", form.noun,
                form.remedy);
  }
  std::vector<Section> sections(header.section_count);
  if (!table.empty()) std::memcpy(sections.data(), table.data(), table.size());
  return sections;
}

}  // namespace

Status check_start(Bytes bytes, const Form& form) {
  if (starts_with(bytes, kVendorMagic)) {
    return fail(Code::version_mismatch,
                "the file was made by the vendor's atc and holds code for the card; {} of AnyNPU "
                "from the original model",
                kModelForm.remedy);
  }
  if (form.magic == kMagic && starts_with(bytes, kBundleMagic)) {
    return fail(Code::file_invalid,
                "the file is a bundle of models, expected one model; load it with "
                "aclmdlBundleLoadFromFile or aclmdlBundleLoadFromMem, or see what is in it with "
                "anynpu bundle --list");
  }
  if (form.magic == kBundleMagic && starts_with(bytes, kMagic)) {
    return fail(Code::file_invalid,
                "the file is one model, expected a bundle of them; load it with aclmdlLoadFromFile "
                "or aclmdlLoadFromMem, or make a bundle of it with anynpu bundle");
  }
  if (!starts_with(bytes, form.magic)) {
    return fail(Code::corrupt_model,
                "the file ({} bytes) does not start as {} {}; expected a .om file, {}",
                bytes.size(), form.magic == kMagic ? "an" : "a", form.noun, form.remedy);
  }
  if (bytes.size() < sizeof(Header)) {
    return fail(Code::corrupt_model, "the {} has {} bytes, less than its header of {}; {}",
                form.noun, bytes.size(), sizeof(Header), form.remedy);
  }
  return {};
}

// Sections follow each other with zeros up to the next boundary, so that every byte is checked.
Result<std::vector<PlacedSection>> read_frame(Bytes bytes, const Form& form) {
  ANYNPU_ASSIGN(const std::vector<Section> table, read_table(bytes, form));
  std::vector<PlacedSection> placed;
  uint64_t end = sizeof(Header) + table.size() * sizeof(Section);
  const auto check_padding = [&](uint64_t next) {
    return next == round_up(end, kAlignment) && next <= bytes.size() &&
           std::all_of(bytes.begin() + static_cast<ptrdiff_t>(end),
                       bytes.begin() + static_cast<ptrdiff_t>(next),
                       [](std::byte b) { return b == std::byte{0}; });
  };
  for (const Section& section : table) {
    if (end > bytes.size() || !check_padding(section.offset) ||
        section.size > bytes.size() - section.offset) {
      return fail(Code::corrupt_model,
                  "section {} of the {} lies at {} with {} bytes, which does not fit; {}",
                  section.kind, form.noun, section.offset, section.size, form.remedy);
    }
    placed.push_back({section, bytes.subspan(section.offset, section.size)});
    end = section.offset + section.size;
  }
  if (!check_padding(bytes.size())) {
    return fail(Code::corrupt_model, "the {} has bytes left over; {}", form.noun, form.remedy);
  }
  return placed;
}

Result<OwnedBytes> aligned_copy(Bytes bytes) {
  auto* memory = static_cast<std::byte*>(
      ::operator new (bytes.size(), std::align_val_t{kAlignment}, std::nothrow));
  if (!memory) {
    return fail(Code::out_of_memory, "no memory for a copy of the model of {} bytes", bytes.size());
  }
  std::shared_ptr<const void> owner(memory, [](const std::byte* p) {
    ::operator delete (const_cast<std::byte*>(p), std::align_val_t{kAlignment});
  });
  std::memcpy(memory, bytes.data(), bytes.size());
  return OwnedBytes{std::move(owner), {memory, bytes.size()}};
}

}  // namespace anynpu::om
