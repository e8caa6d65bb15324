// SPDX-License-Identifier: Apache-2.0
#include "om/bundle.h"

#include <array>
#include <filesystem>

#include "base/align.h"
#include "base/crc32c.h"
#include "base/mapped_file.h"
#include "base/whole_file.h"
#include "om/sections.h"

namespace anynpu::om {

namespace {

// The bytes of each model. They check themselves: every byte of an offline model is covered.
Result<std::vector<Bytes>> read_members(Bytes bytes) {
  ANYNPU_ASSIGN(const auto placed, read_frame(bytes, kBundleForm));
  std::vector<Bytes> members;
  for (const auto& [section, content] : placed) {
    if (section.kind != SectionKind::model) {
      return fail(Code::corrupt_model, "section {} of the bundle is of kind {}, expected {}; {}",
                  members.size(), section.kind, SectionKind::model, kBundleForm.remedy);
    }
    members.push_back(content);
  }
  if (members.empty()) {
    return fail(Code::corrupt_model, "the bundle holds no model; {}", kBundleForm.remedy);
  }
  return members;
}

Result<std::vector<Model>> read_bundle(const OwnedBytes& whole, const WeightSource& weights) {
  ANYNPU_ASSIGN(const std::vector<Bytes> members, read_members(whole.bytes));
  std::vector<Model> models;
  for (const Bytes& member : members) {
    ANYNPU_ASSIGN(Model model, read_memory(member, whole.owner, weights),
                  "while loading model {} of the bundle", models.size());
    models.push_back(std::move(model));
  }
  return models;
}

Status check_paths(const std::vector<std::string>& models, const std::string& path) {
  if (models.empty() || models.size() > kMaxSections) {
    return fail(Code::invalid_argument, "{} models are given; a bundle holds 1 to {}",
                models.size(), kMaxSections);
  }
  for (const std::string& model : models) {
    std::error_code ignored;  // a file that is not there is nobody's equal
    if (std::filesystem::equivalent(model, path, ignored)) {
      return fail(Code::invalid_argument,
                  "the bundle '{}' would replace one of its models; give it another name", path);
    }
  }
  return {};
}

}  // namespace

Status write_bundle(const std::vector<std::string>& models, const std::string& path) {
  ANYNPU_TRY(check_paths(models, path));
  const WeightSource weights = weights_in(weight_folder(path));
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<Section> table;
  uint64_t at = sizeof(Header) + models.size() * sizeof(Section);
  for (const std::string& model : models) {
    ANYNPU_ASSIGN(auto file, MappedFile::open(model), "while bundling '{}'", model);
    ANYNPU_TRY(read_memory(file->bytes(), file, weights).status(),
               "while bundling '{}' (weight files are expected beside the bundle, in '{}')", model,
               weight_folder(path));
    at = round_up(at, kAlignment);
    table.push_back({SectionKind::model, 0, at, file->bytes().size(), 0});
    at += file->bytes().size();
    files.push_back(std::move(file));
  }
  Header header{};
  header.magic = kBundleMagic;
  header.version = kFormatVersion;
  header.section_count = static_cast<uint32_t>(table.size());
  header.file_size = round_up(at, kAlignment);
  const Bytes entries = std::as_bytes(std::span(table));
  header.checksum = crc32c(entries, crc32c(std::as_bytes(std::span(&header, 1))));

  static constexpr std::array<std::byte, kAlignment> zeros{};
  std::vector<Bytes> parts = {std::as_bytes(std::span(&header, 1)), entries};
  uint64_t end = sizeof(Header) + entries.size();
  for (size_t i = 0; i < files.size(); ++i) {
    parts.push_back(Bytes(zeros).first(table[i].offset - end));
    parts.push_back(files[i]->bytes());
    end = table[i].offset + table[i].size;
  }
  parts.push_back(Bytes(zeros).first(round_up(end, kAlignment) - end));
  return write_file_atomically(path, parts);
}

Result<std::vector<Model>> read_bundle_file(const std::string& path) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while loading the bundle '{}'", path);
  const Bytes bytes = file->bytes();
  ANYNPU_ASSIGN(auto models, read_bundle({std::move(file), bytes}, weights_in(weight_folder(path))),
                "while loading the bundle '{}'", path);
  return models;
}

Result<std::vector<Model>> read_bundle_copy(Bytes bytes) {
  ANYNPU_TRY(check_start(bytes, kBundleForm));
  ANYNPU_ASSIGN(const OwnedBytes copy, aligned_copy(bytes));
  return read_bundle(copy, {});
}

Result<std::vector<BundleEntry>> list_bundle(const std::string& path) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while reading the bundle '{}'", path);
  ANYNPU_ASSIGN(const std::vector<Bytes> members, read_members(file->bytes()),
                "while reading the bundle '{}'", path);
  std::vector<BundleEntry> entries;
  for (const Bytes& member : members) {
    ANYNPU_ASSIGN(Meta meta, read_meta(member), "while reading model {} of the bundle '{}'",
                  entries.size(), path);
    entries.push_back({std::move(meta), member.size()});
  }
  return entries;
}

}  // namespace anynpu::om
