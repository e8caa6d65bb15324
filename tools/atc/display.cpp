// SPDX-License-Identifier: Apache-2.0
// The text of --mode=6 and --display_model_info.
#include <cstdio>
#include <filesystem>

#include "exec/shaped_model.h"
#include "modes.h"
#include "om/container.h"

namespace anynpu::atc {

namespace {

size_t weight_bytes(const graph::Graph& graph) {
  size_t total = 0;
  for (const graph::Value& value : graph.values) {
    if (value.constant) total += value.constant->bytes.size();
  }
  return total;
}

std::string option_of(const om::Meta& meta, const std::string& name) {
  for (const auto& [key, value] : meta.options) {
    if (key == name) return value;
  }
  return "";
}

std::string tensors(std::string_view kind, const std::vector<om::TensorInfo>& infos) {
  std::string text;
  for (size_t i = 0; i < infos.size(); ++i) {
    const om::TensorInfo& info = infos[i];
    text +=
        format("{} {}: name[{}], dtype[{}], format[{}], dims[{}], size[{} B]\n", kind, i, info.name,
               name_of(info.dtype), name_of(info.format), to_string(info.shape), info.size);
  }
  return text;
}

std::string gears(const om::Meta& meta) {
  if (!meta.has_gears()) return "";
  std::string list;
  for (const auto& gear : meta.gears) {
    list += list.empty() ? "" : ";";
    for (size_t i = 0; i < gear.size(); ++i) list += format("{}{}", i ? "," : "", gear[i]);
  }
  return format("gears: [{}]\n", list);
}

}  // namespace

Status display_model(const std::string& path) {
  if (is_vendor_model(path)) return display_vendor_model(path);
  ANYNPU_ASSIGN(const om::Model model, om::read_file(path));
  std::string sizes = "memory_size[known at run time], weight_size[known at run time]";
  if (const auto query = exec::ShapedModel::query(model); query.ok())
    sizes = format("memory_size[{} B], weight_size[{} B]", query->work_bytes, query->weight_bytes);
  std::error_code error;
  const std::string text = format(
      "============ Display Model Info start ============\n"
      "Original Atc command line: {}\n"
      "system   info: atc_version[{}], soc_version[{}], framework_type[{}].\n"
      "resource info: {}.\n"
      "om       info: file_size[{} B], weight_data_size[{} B], op_num[{}].\n"
      "{}{}{}"
      "============ Display Model Info end   ============\n",
      model.meta.command_line, model.meta.producer, model.meta.soc_version,
      option_of(model.meta, "framework"), sizes, std::filesystem::file_size(path, error),
      weight_bytes(model.graph), model.graph.nodes.size(), tensors("input ", model.meta.inputs),
      tensors("output", model.meta.outputs), gears(model.meta));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace anynpu::atc
