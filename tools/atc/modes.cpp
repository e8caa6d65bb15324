// SPDX-License-Identifier: Apache-2.0
#include "modes.h"

#include <cstdio>
#include <filesystem>

#include "base/whole_file.h"
#include "compile/model_json.h"
#include "compile/types.h"
#include "import/op_report.h"
#include "om/container.h"
#include "options.h"

namespace anynpu::atc {

namespace {

Status need(const CommandLine& line, std::string_view name) {
  if (!line.get(name).empty()) return {};
  return fail(Code::invalid_argument, "--{} is missing; --mode={} needs it", name,
              line.get("mode"));
}

Status write_text(const std::string& path, const std::string& text) {
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  return write_file_atomically(path, parts);
}

json::Value info_json(const std::vector<om::TensorInfo>& infos) {
  json::Array list;
  for (const om::TensorInfo& info : infos) {
    json::Array dims;
    for (int64_t extent : info.shape) dims.emplace_back(extent);
    list.push_back(json::Object{{"name", info.name},
                                {"dtype", std::string(name_of(info.dtype))},
                                {"format", std::string(name_of(info.format))},
                                {"dims", std::move(dims)},
                                {"size", info.size}});
  }
  return list;
}

json::Value model_json(const om::Model& model) {
  json::Value root = compile::to_json(model.graph, model.meta.name);
  json::Array options;
  for (const auto& [key, value] : model.meta.options)
    options.push_back(json::Object{{"key", key}, {"value", value}});
  root.set("version", model.meta.producer);
  root.set("soc_version", model.meta.soc_version);
  root.set("atc_cmdline", model.meta.command_line);
  root.set("atc_options", std::move(options));
  root.set("model_input", info_json(model.meta.inputs));
  root.set("model_output", info_json(model.meta.outputs));
  return root;
}

// A source model; with --dump_mode=1 every shape that can be inferred is in it.
Result<json::Value> source_json(const CommandLine& line) {
  compile::Conversion source;
  ANYNPU_ASSIGN(source.framework, compile::parse_framework(line.get("framework")));
  source.model_path = line.get("om");
  source.weight_path = line.get("weight");
  ANYNPU_ASSIGN(source.options.input_shapes, compile::parse_input_shapes(line.get("input_shape")));
  const bool infer = line.get("dump_mode") == "1";
  if (source.framework == compile::Framework::caffe && source.weight_path.empty() && !infer) {
    ANYNPU_ASSIGN(const std::string text, compile::read_option_file(texts_of(line), "om"));
    return compile::from_prototext(text);
  }
  ANYNPU_ASSIGN(graph::Graph graph, compile::import_model(source));
  if (infer) {
    ANYNPU_TRY(compile::apply_input_shapes(source.options.input_shapes, graph).status());
    ANYNPU_ASSIGN(const graph::Graph sample, compile::learn_types(graph, {}));
    for (size_t i = 0; i < graph.values.size(); ++i) {
      graph.values[i].shape = sample.values[i].shape;
      graph.values[i].has_shape = sample.values[i].has_shape;
    }
  }
  return compile::to_json(graph, std::filesystem::path(source.model_path).stem().string());
}

}  // namespace

Status write_model_json(const CommandLine& line) {
  ANYNPU_TRY(need(line, "om"));
  ANYNPU_TRY(need(line, "json"));
  if (const std::string mode = line.get("dump_mode"); mode != "0" && mode != "1")
    return fail(Code::invalid_argument, "--dump_mode is '{}'; expected 0 or 1", mode);
  json::Value root;
  if (line.has("framework")) {
    ANYNPU_ASSIGN(root, source_json(line));
  } else if (is_vendor_model(line.get("om"))) {
    ANYNPU_ASSIGN(root, vendor_json(line.get("om")));
  } else {
    ANYNPU_ASSIGN(const om::Model model, om::read_file(line.get("om")),
                  "give --framework when --om is a source model");
    root = model_json(model);
  }
  return write_text(line.get("json"), root.dump(2) + "\n");
}

Status write_stage_json(const CommandLine& line) {
  ANYNPU_TRY(need(line, "om"));
  ANYNPU_TRY(need(line, "json"));
  ANYNPU_ASSIGN(const std::string text, compile::read_option_file(texts_of(line), "om"));
  ANYNPU_ASSIGN(const json::Value root, compile::from_prototext(text),
                "while reading '{}'; --mode=5 takes a ge_proto_*.txt that DUMP_GE_GRAPH wrote",
                line.get("om"));
  if (!root.find("graph")) {
    return fail(Code::file_invalid,
                "'{}' holds no graph; --mode=5 takes a ge_proto_*.txt that DUMP_GE_GRAPH wrote",
                line.get("om"));
  }
  return write_text(line.get("json"), root.dump(2) + "\n");
}

Status write_report(const CommandLine& line, bool& all_good) {
  ANYNPU_ASSIGN(const auto framework, compile::parse_framework(line.get("framework")));
  const std::string model = line.get("model");
  const auto reports =
      framework == compile::Framework::caffe        ? caffe::report_layers(model)
      : framework == compile::Framework::tensorflow ? tensorflow::report_nodes(model)
      : framework == compile::Framework::mindspore  ? mindspore::report_operators(model)
                                                    : onnx::report_operators(model);
  ANYNPU_TRY(reports.status());
  json::Array ops;
  all_good = true;
  for (const OpReport& op : *reports) {
    json::Object entry = {{"op_name", op.name}, {"op_type", op.type}};
    if (framework == compile::Framework::onnx) {
      entry.emplace_back("domain", op.domain.empty() ? std::string("ai.onnx") : op.domain);
      entry.emplace_back("opset", op.opset);
    }
    entry.emplace_back("result", op.cause.empty() ? "success" : "failed");
    if (!op.cause.empty()) entry.emplace_back("cause", op.cause);
    all_good = all_good && op.cause.empty();
    ops.emplace_back(std::move(entry));
  }
  const json::Value root = json::Object{{"model", line.get("model")},
                                        {"result", all_good ? "success" : "failed"},
                                        {"op", std::move(ops)}};
  return write_text(line.get("check_report"), root.dump(2) + "\n");
}

Status check_model(const CommandLine& line) {
  ANYNPU_TRY(need(line, "model"));
  ANYNPU_TRY(need(line, "framework"));
  bool all_good = false;
  ANYNPU_TRY(write_report(line, all_good));
  if (all_good) return {};
  return fail(Code::unsupported_op, "'{}' has operators that are not supported; '{}' lists them",
              line.get("model"), line.get("check_report"));
}

}  // namespace anynpu::atc
