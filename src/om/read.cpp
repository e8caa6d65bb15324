// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "base/crc32c.h"
#include "base/mapped_file.h"
#include "om/codec.h"
#include "om/container.h"
#include "om/layout.h"

namespace anynpu::om {

namespace {

using Bytes = std::span<const std::byte>;

// The first bytes of a file that the vendor's atc wrote.
constexpr std::array<char, 4> kVendorMagic = {'I', 'M', 'O', 'D'};

constexpr std::string_view kMakeAgain = "convert the model again with atc";

struct Sections {
  Bytes meta, graph, weights, files;
};

bool starts_with(Bytes bytes, std::span<const char> magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Status check_start(Bytes bytes) {
  if (starts_with(bytes, kVendorMagic)) {
    return fail(
        Code::version_mismatch,
        "the file was made by the vendor's atc and holds code for the card; {} of AnyNPU from "
        "the original model",
        kMakeAgain);
  }
  if (!starts_with(bytes, kMagic)) {
    return fail(Code::corrupt_model,
                "the file ({} bytes) does not start as an offline model; expected a .om file, {}",
                bytes.size(), kMakeAgain);
  }
  if (bytes.size() < sizeof(Header)) {
    return fail(Code::corrupt_model,
                "the offline model has {} bytes, less than its header of {}; {}", bytes.size(),
                sizeof(Header), kMakeAgain);
  }
  return {};
}

Result<std::vector<Section>> read_table(Bytes bytes) {
  ANYNPU_TRY(check_start(bytes));
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version > kFormatVersion) {
    return fail(Code::version_mismatch,
                "the offline model has format version {}, this AnyNPU reads up to {}; use a newer "
                "AnyNPU or {}",
                header.version, kFormatVersion, kMakeAgain);
  }
  if (header.file_size != bytes.size()) {
    return fail(Code::corrupt_model,
                "the offline model has {} bytes, its header says {}; the file is cut short or "
                "damaged, {}",
                bytes.size(), header.file_size, kMakeAgain);
  }
  const size_t table_size = size_t{header.section_count} * sizeof(Section);
  if (header.version == 0 || header.section_count > kMaxSections ||
      table_size > bytes.size() - sizeof header) {
    return fail(Code::corrupt_model, "the header of the offline model is damaged; {}", kMakeAgain);
  }
  const uint32_t stored = header.checksum;
  header.checksum = 0;
  const Bytes table = bytes.subspan(sizeof header, table_size);
  if (crc32c(table, crc32c(std::as_bytes(std::span(&header, 1)))) != stored) {
    return fail(Code::corrupt_model, "the header of the offline model fails its checksum; {}",
                kMakeAgain);
  }
  std::vector<Section> sections(header.section_count);
  if (!table.empty()) std::memcpy(sections.data(), table.data(), table.size());
  return sections;
}

// Sections follow each other with zeros up to the next boundary, so that every byte is checked.
Result<Sections> read_sections(Bytes bytes) {
  ANYNPU_ASSIGN(const std::vector<Section> table, read_table(bytes));
  Sections found;
  int seen = 0;
  uint64_t end = sizeof(Header) + table.size() * sizeof(Section);
  const auto check_padding = [&](uint64_t next) {
    return next == align_up(end) && next <= bytes.size() &&
           std::all_of(bytes.begin() + static_cast<ptrdiff_t>(end),
                       bytes.begin() + static_cast<ptrdiff_t>(next),
                       [](std::byte b) { return b == std::byte{0}; });
  };
  for (const Section& section : table) {
    if (end > bytes.size() || !check_padding(section.offset) ||
        section.size > bytes.size() - section.offset) {
      return fail(
          Code::corrupt_model,
          "section {} of the offline model lies at {} with {} bytes, which does not fit; {}",
          section.kind, section.offset, section.size, kMakeAgain);
    }
    const Bytes content = bytes.subspan(section.offset, section.size);
    if (crc32c(content) != section.checksum) {
      return fail(Code::corrupt_model, "section {} of the offline model fails its checksum; {}",
                  section.kind, kMakeAgain);
    }
    if (section.kind == SectionKind::meta) found.meta = content, seen |= 1;
    if (section.kind == SectionKind::graph) found.graph = content, seen |= 2;
    if (section.kind == SectionKind::weights) found.weights = content, seen |= 4;
    if (section.kind == SectionKind::weight_files) found.files = content;
    end = section.offset + section.size;
  }
  if (seen != 7 || !check_padding(bytes.size())) {
    return fail(Code::corrupt_model, "the offline model lacks a section or has bytes left over; {}",
                kMakeAgain);
  }
  return found;
}

// The contents passed their checksum, so a failure below means a faulty writer: still no crash.
Status as_corrupt(const Status& status) {
  if (status.ok() || status.code() == Code::corrupt_model) return status;
  return Status(Code::corrupt_model, status.to_string());
}

// A dynamic model is described for all its gears; what one of them needs comes from its plan.
Status check_dynamic(const Meta& meta, const graph::Graph& graph) {
  const auto dynamic = std::count_if(meta.aipp.begin(), meta.aipp.end(),
                                     [](const Aipp& aipp) { return aipp.dynamic; });
  const auto parameters =
      std::count_if(meta.inputs.begin(), meta.inputs.end(),
                    [](const TensorInfo& info) { return info.role == Role::aipp; });
  if (dynamic != parameters) {
    return fail(Code::corrupt_model,
                "the offline model has dynamic AIPP for {} inputs and parameters for {}", dynamic,
                parameters);
  }
  size_t data = 0;
  while (data < meta.inputs.size() && meta.inputs[data].role == Role::data) ++data;
  if (data != graph.inputs.size() || meta.outputs.size() != graph.outputs.size()) {
    return fail(Code::corrupt_model,
                "the offline model describes {} inputs and {} outputs, its graph has {} and {}",
                data, meta.outputs.size(), graph.inputs.size(), graph.outputs.size());
  }
  for (graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    if (value.has_shape && size_of(value.dtype) > 0) continue;
    return fail(Code::corrupt_model, "input '{}' of the graph has no shape or type", value.name);
  }
  return {};
}

// The graph takes pictures as bytes; the description says how they lie.
bool is_picture(const Meta& meta, const TensorInfo& info) {
  return std::any_of(meta.aipp.begin(), meta.aipp.end(),
                     [&](const Aipp& aipp) { return &meta.inputs[aipp.input] == &info; });
}

Status check_infos(const Meta& meta, const std::vector<TensorInfo>& infos,
                   const std::vector<graph::ValueId>& ids, const graph::Graph& graph,
                   std::string_view kind) {
  if (infos.size() != ids.size()) {
    return fail(Code::corrupt_model, "the offline model describes {} {}, its graph has {}",
                infos.size(), kind, ids.size());
  }
  for (size_t i = 0; i < infos.size(); ++i) {
    const graph::Value& value = graph.values[static_cast<size_t>(ids[i])];
    const bool picture = is_picture(meta, infos[i]);
    const int64_t count = element_count(picture ? value.shape : infos[i].shape);
    const bool sized =
        count < 0 ? infos[i].size == 0
                  : count < (int64_t{1} << 50) &&
                        infos[i].size == bytes_of(infos[i].dtype, static_cast<size_t>(count));
    const Shape& shape = value.has_shape ? value.shape : kUnknownRank;
    if (value.dtype != infos[i].dtype || value.kind != graph::ValueKind::tensor ||
        (shape != infos[i].shape && !picture) || !sized) {
      return fail(Code::corrupt_model, "the description of '{}' does not fit the graph",
                  infos[i].name);
    }
  }
  return {};
}

// The weights of the file, and those in files of their own.
Result<Weights> find_weights(const Sections& sections, std::shared_ptr<const void> owner,
                             const WeightSource& source) {
  Weights weights;
  weights.pieces.push_back({0, std::move(owner), sections.weights});
  auto files = decode_files(WireReader(sections.files));
  ANYNPU_TRY(as_corrupt(files.status()));
  if (!files->empty() && !source) {
    return fail(Code::invalid_argument,
                "the model has {} files of weights beside it, which a model in memory does not "
                "find; load it by its path, set ACL_MDL_WEIGHT_PATH_PTR to their folder or give "
                "each with aclmdlSetExternalWeightAddress",
                files->size());
  }
  for (const WeightFile& file : *files) {
    ANYNPU_ASSIGN(WeightBytes found, source(file.name));
    if (found.bytes.size() != file.size || crc32c(found.bytes) != file.checksum) {
      return fail(Code::corrupt_model,
                  "the file of weights '{}' has {} bytes and does not belong to this model, which "
                  "expects {}; {}",
                  file.name, found.bytes.size(), file.size, kMakeAgain);
    }
    weights.pieces.push_back({file.offset, std::move(found.owner), found.bytes});
  }
  return weights;
}

}  // namespace

Result<Model> read_memory(Bytes bytes, std::shared_ptr<const void> owner,
                          const WeightSource& source) {
  ANYNPU_ASSIGN(const Sections sections, read_sections(bytes));
  Model model;
  auto meta = decode_meta(WireReader(sections.meta));
  ANYNPU_TRY(as_corrupt(meta.status()));
  model.meta = std::move(*meta);
  ANYNPU_ASSIGN(const Weights weights, find_weights(sections, std::move(owner), source));
  auto graph = decode_graph(WireReader(sections.graph), weights);
  ANYNPU_TRY(as_corrupt(graph.status()));
  model.graph = std::move(*graph);
  if (model.meta.is_dynamic()) {
    ANYNPU_TRY(check_dynamic(model.meta, model.graph));
    return model;
  }
  ANYNPU_TRY(check_infos(model.meta, model.meta.inputs, model.graph.inputs, model.graph, "inputs"));
  ANYNPU_TRY(
      check_infos(model.meta, model.meta.outputs, model.graph.outputs, model.graph, "outputs"));
  return model;
}

Result<Model> read_file(const std::string& path, const WeightSource& weights) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while loading the model '{}'", path);
  const Bytes bytes = file->bytes();
  ANYNPU_ASSIGN(Model model,
                read_memory(bytes, file, weights ? weights : weights_in(weight_folder(path))),
                "while loading the model '{}'", path);
  return model;
}

Result<Model> read_copy(Bytes bytes, const WeightSource& weights) {
  ANYNPU_TRY(check_start(bytes));
  auto* memory = static_cast<std::byte*>(
      ::operator new (bytes.size(), std::align_val_t{kAlignment}, std::nothrow));
  if (!memory) {
    return fail(Code::out_of_memory, "no memory for a copy of the model of {} bytes", bytes.size());
  }
  std::shared_ptr<const void> owner(memory, [](const std::byte* p) {
    ::operator delete (const_cast<std::byte*>(p), std::align_val_t{kAlignment});
  });
  std::memcpy(memory, bytes.data(), bytes.size());
  return read_memory({memory, bytes.size()}, std::move(owner), weights);
}

Result<Meta> read_meta(Bytes bytes) {
  ANYNPU_ASSIGN(const Sections sections, read_sections(bytes));
  auto meta = decode_meta(WireReader(sections.meta));
  ANYNPU_TRY(as_corrupt(meta.status()));
  return std::move(*meta);
}

}  // namespace anynpu::om
