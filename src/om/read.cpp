// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/crc32c.h"
#include "base/mapped_file.h"
#include "om/codec.h"
#include "om/container.h"
#include "om/sections.h"

namespace anynpu::om {

namespace {

constexpr std::string_view kMakeAgain = kModelForm.remedy;

struct Sections {
  Bytes meta, graph, weights, files;
};

Result<Sections> read_sections(Bytes bytes) {
  ANYNPU_ASSIGN(const auto placed, read_frame(bytes, kModelForm));
  Sections found;
  int seen = 0;
  for (const auto& [section, content] : placed) {
    if (crc32c(content) != section.checksum) {
      return fail(Code::corrupt_model, "section {} of the offline model fails its checksum; {}",
                  section.kind, kMakeAgain);
    }
    if (section.kind == SectionKind::meta) found.meta = content, seen |= 1;
    if (section.kind == SectionKind::graph) found.graph = content, seen |= 2;
    if (section.kind == SectionKind::weights) found.weights = content, seen |= 4;
    if (section.kind == SectionKind::weight_files) found.files = content;
  }
  if (seen != 7) {
    return fail(Code::corrupt_model, "the offline model lacks a section; {}", kMakeAgain);
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

// The graph takes images as bytes; the description says how they are laid out.
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

// The weights of the file, and those in separate files.
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
    ANYNPU_ASSIGN(OwnedBytes found, source(file.name));
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
  ANYNPU_TRY(check_start(bytes, kModelForm));
  ANYNPU_ASSIGN(const auto copy, aligned_copy(bytes));
  return read_memory(copy.bytes, copy.owner, weights);
}

Result<Meta> read_meta(Bytes bytes) {
  ANYNPU_ASSIGN(const Sections sections, read_sections(bytes));
  auto meta = decode_meta(WireReader(sections.meta));
  ANYNPU_TRY(as_corrupt(meta.status()));
  return std::move(*meta);
}

}  // namespace anynpu::om
