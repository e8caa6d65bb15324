// SPDX-License-Identifier: Apache-2.0
// What modes 1 and 6 say about a .om file of the vendor's atc.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/mapped_file.h"
#include "import/ge/ge.h"
#include "import/ge/json.h"
#include "modes.h"
#include "om/vendor.h"

namespace anynpu::atc {

namespace {

struct Opened {
  std::shared_ptr<const MappedFile> bytes;
  om::VendorFile file;
  ge::ModelDef model;
};

Result<Opened> open_vendor(const std::string& path) {
  Opened opened;
  ANYNPU_ASSIGN(opened.bytes, MappedFile::open(path), "while reading '{}'", path);
  ANYNPU_ASSIGN(opened.file, om::read_vendor_file(opened.bytes->bytes()), "while reading '{}'",
                path);
  ANYNPU_ASSIGN(opened.model, om::read_vendor_description(opened.file), "while reading '{}'", path);
  return opened;
}

// An input or output of the model, as the vendor's operators describe it.
struct End {
  std::string name;
  const ge::TensorDef* tensor;
};

std::vector<End> inputs_of(const ge::GraphDef& graph) {
  std::vector<const ge::OpDef*> ops;
  for (const ge::OpDef& op : graph.ops) {
    if (op.type == "Data") ops.push_back(&op);
  }
  std::stable_sort(ops.begin(), ops.end(), [](const ge::OpDef* a, const ge::OpDef* b) {
    return a->int_attr("index", 0) < b->int_attr("index", 0);
  });
  std::vector<End> ends;
  for (const ge::OpDef* op : ops) {
    const auto& descs = op->output_descs.empty() ? op->input_descs : op->output_descs;
    ends.push_back({op->name, descs.empty() ? nullptr : &descs[0]});
  }
  return ends;
}

std::vector<End> outputs_of(const ge::GraphDef& graph) {
  std::vector<End> ends;
  for (const ge::OpDef& op : graph.ops) {
    if (op.type != "NetOutput") continue;
    for (const std::string& source : op.inputs) {
      if (ge::parse_edge(source).index < 0) continue;
      const size_t index = ends.size();
      ends.push_back({source, index < op.input_descs.size() ? &op.input_descs[index] : nullptr});
    }
  }
  return ends;
}

int64_t size_of_tensor(const ge::TensorDef& tensor) {
  const int64_t count = element_count(tensor.shape);
  return count < 0 ? tensor.size
                   : static_cast<int64_t>(bytes_of(tensor.dtype, static_cast<size_t>(count)));
}

json::Value ends_json(const std::vector<End>& ends) {
  json::Array list;
  for (const End& end : ends) {
    json::Object entry = {{"name", end.name}};
    if (end.tensor) {
      json::Array dims;
      for (int64_t extent : end.tensor->shape) dims.emplace_back(extent);
      entry.emplace_back("dtype", std::string(name_of(end.tensor->dtype)));
      entry.emplace_back("format", end.tensor->layout);
      entry.emplace_back("dims", std::move(dims));
      entry.emplace_back("size", size_of_tensor(*end.tensor));
    }
    list.emplace_back(std::move(entry));
  }
  return list;
}

std::string ends_text(std::string_view kind, const std::vector<End>& ends) {
  std::string text;
  for (size_t i = 0; i < ends.size(); ++i) {
    text += format("{} {}: name[{}]", kind, i, ends[i].name);
    if (const ge::TensorDef* tensor = ends[i].tensor) {
      text += format(", dtype[{}], format[{}], dims[{}], size[{} B]", name_of(tensor->dtype),
                     tensor->layout, to_string(tensor->shape), size_of_tensor(*tensor));
    }
    text += '\n';
  }
  return text;
}

size_t op_count(const ge::ModelDef& model) {
  size_t count = 0;
  for (const ge::GraphDef& graph : model.graphs) count += graph.ops.size();
  return count;
}

std::string types_text(const ge::ModelDef& model) {
  std::map<std::string, size_t> counts;
  for (const ge::GraphDef& graph : model.graphs) {
    for (const ge::OpDef& op : graph.ops) ++counts[op.type];
  }
  std::string text = "operators:";
  for (const auto& [type, count] : counts) text += format(" {} {},", type, count);
  text.back() = '\n';
  return text;
}

}  // namespace

bool is_vendor_model(const std::string& path) {
  const auto file = MappedFile::open(path);
  return file.ok() && om::is_vendor_file((*file)->bytes());
}

Result<json::Value> vendor_json(const std::string& path) {
  ANYNPU_ASSIGN(const Opened opened, open_vendor(path));
  ANYNPU_ASSIGN(json::Value root, ge::model_def_json(opened.file.part(om::kVendorDescription)));
  json::Array parts;
  for (const auto& model : opened.file.models) {
    for (const om::VendorPart& part : model) {
      parts.push_back(json::Object{{"type", static_cast<int64_t>(part.type)},
                                   {"holds", std::string(om::vendor_part_name(part.type))},
                                   {"size", static_cast<int64_t>(part.bytes.size())}});
    }
  }
  root.set("made_by", om::describe_vendor_file(opened.file, &opened.model));
  root.set("soc_version", opened.model.string_attr("soc_version"));
  root.set("atc_cmdline", opened.model.string_attr("atc_cmdline"));
  root.set("model_input", ends_json(inputs_of(opened.model.graphs[0])));
  root.set("model_output", ends_json(outputs_of(opened.model.graphs[0])));
  root.set("part", std::move(parts));
  return root;
}

Status display_vendor_model(const std::string& path) {
  ANYNPU_ASSIGN(const Opened opened, open_vendor(path));
  const ge::ModelDef& model = opened.model;
  std::string parts;
  for (const auto& one : opened.file.models) {
    for (const om::VendorPart& part : one) {
      parts += format("part {}: {}, size[{} B]\n", part.type, om::vendor_part_name(part.type),
                      part.bytes.size());
    }
  }
  const std::string text = format(
      "============ Display Model Info start ============\n"
      "Original Atc command line: {}\n"
      "system   info: atc_version[{}], soc_version[{}], framework_type[{}].\n"
      "om       info: {}, file_size[{} B], weight_data_size[{} B], op_num[{}].\n"
      "{}{}{}{}"
      "============ Display Model Info end   ============\n",
      model.string_attr("atc_cmdline"), model.string_attr("atc_version"),
      model.string_attr("soc_version"), model.string_attr("framework_type"),
      om::describe_vendor_file(opened.file, &model), opened.bytes->bytes().size(),
      opened.file.part(om::kVendorWeights).size(), op_count(model), parts,
      ends_text("input ", inputs_of(model.graphs[0])),
      ends_text("output", outputs_of(model.graphs[0])), types_text(model));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace anynpu::atc
