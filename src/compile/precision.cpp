// SPDX-License-Identifier: Apache-2.0
#include "compile/precision.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "import/singleop/table.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

struct NamedMode {
  std::string_view name;
  PrecisionMode mode;
};
constexpr std::array<NamedMode, 8> kModes = {{
    {"must_keep_origin_dtype", PrecisionMode::origin},
    {"force_fp16", PrecisionMode::fp16},
    {"force_fp32", PrecisionMode::cube_fp16},
    {"cube_fp16in_fp32out", PrecisionMode::cube_fp16},
    {"allow_fp32_to_fp16", PrecisionMode::allow_fp16},
    {"allow_mix_precision", PrecisionMode::mixed_float16},
    {"allow_mix_precision_fp16", PrecisionMode::mixed_float16},
    {"allow_mix_precision_bf16", PrecisionMode::mixed_bfloat16},
}};
constexpr std::array<NamedMode, 5> kModesV2 = {{
    {"origin", PrecisionMode::origin},
    {"fp16", PrecisionMode::fp16},
    {"cube_fp16in_fp32out", PrecisionMode::cube_fp16},
    {"mixed_float16", PrecisionMode::mixed_float16},
    {"mixed_bfloat16", PrecisionMode::mixed_bfloat16},
}};

template <size_t N>
Result<PrecisionMode> find_mode(const std::array<NamedMode, N>& modes, std::string_view option,
                                std::string_view text) {
  std::string names;
  for (const NamedMode& mode : modes) {
    if (mode.name == text) return mode.mode;
    names += (names.empty() ? "" : ", ") + std::string(mode.name);
  }
  return fail(Code::invalid_argument, "--{} is '{}'; expected one of {}", option, text, names);
}

// fn(line, number) for every line that is not empty and no comment.
template <typename Function>
Status each_line(std::string_view text, const Function& fn) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    if (!line.empty() && line.front() != '#') ANYNPU_TRY(fn(line, number));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return {};
}

constexpr std::string_view kOpType = "OpType::";

Result<std::vector<std::string>> op_list(const json::Value& value, std::string_view list,
                                         std::string_view key) {
  const auto wrong = [&] {
    return fail(
        Code::invalid_argument,
        "--modify_mixlist: \"{}\" / \"{}\" is of kind {}; expected a list of operator names", list,
        key, value.kind());
  };
  std::vector<std::string> names;
  if (!value.array()) return wrong();
  for (const json::Value& one : *value.array()) {
    if (!one.string()) return wrong();
    names.push_back(singleop::onnx_name(*one.string()));
  }
  return names;
}

Result<DType> custom_type(std::string_view name, std::string_view line, int number) {
  constexpr std::array<std::pair<std::string_view, DType>, 5> types = {{{"float32", DType::f32},
                                                                        {"float", DType::f32},
                                                                        {"float16", DType::f16},
                                                                        {"fp16", DType::f16},
                                                                        {"bfloat16", DType::bf16}}};
  for (const auto& [known, type] : types) {
    if (known == name) return type;
  }
  return fail(Code::invalid_argument,
              "--customize_dtypes, line {}: type '{}' in '{}'; expected float32, float16 or "
              "bfloat16",
              number, name, line);
}

// "InputDtype:a,b,OutputDtype:c": all must be the same, as an operator here has one precision.
Result<DType> common_type(std::string_view text, std::string_view line, int number) {
  DType common = DType::undefined;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view word = trim(text.substr(0, comma));
    for (std::string_view head : {"InputDtype:", "OutputDtype:"}) {
      if (word.starts_with(head)) word = trim(word.substr(head.size()));
    }
    ANYNPU_ASSIGN(const DType type, custom_type(word, line, number));
    if (common != DType::undefined && type != common) {
      return fail(Code::unsupported_feature,
                  "--customize_dtypes, line {}: '{}' asks for {} and {} in one operator, which has "
                  "one precision here; give the same type for all",
                  number, line, name_of(common), name_of(type));
    }
    common = type;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return common;
}

}  // namespace

Result<PrecisionMode> parse_precision_mode(std::string_view text) {
  return find_mode(kModes, "precision_mode", text);
}

Result<PrecisionMode> parse_precision_mode_v2(std::string_view text) {
  if (text == "mixed_hif8") {
    return fail(Code::unsupported_dtype,
                "--precision_mode_v2=mixed_hif8: no chip that --soc_version names computes in "
                "HIF8; use mixed_float16 or mixed_bfloat16");
  }
  return find_mode(kModesV2, "precision_mode_v2", text);
}

Status parse_mix_list(std::string_view text, Precision& precision) {
  constexpr std::array<std::pair<std::string_view, MixList>, 3> lists = {
      {{"white-list", MixList::white},
       {"gray-list", MixList::gray},
       {"black-list", MixList::black}}};
  ANYNPU_ASSIGN(const json::Value root, json::parse(text, "--modify_mixlist"));
  if (!root.object()) {
    return fail(Code::invalid_argument, "--modify_mixlist holds a {}; expected an object",
                root.kind());
  }
  for (const auto& [name, content] : *root.object()) {
    const auto* list = std::find_if(lists.begin(), lists.end(), [&name = name](const auto& known) {
      return known.first == name;
    });
    if (list == lists.end() || !content.object()) {
      return fail(Code::invalid_argument,
                  "--modify_mixlist: \"{}\" is no list; expected \"white-list\", \"gray-list\" or "
                  "\"black-list\" with \"to-add\" and \"to-remove\"",
                  name);
    }
    for (const auto& [key, value] : *content.object()) {
      ANYNPU_ASSIGN(const auto names, op_list(value, name, key));
      if (key == "to-add") {
        for (const std::string& op : names) {
          const auto [place, is_new] = precision.moved.try_emplace(op, list->second);
          if (!is_new && place->second != list->second)
            return fail(Code::invalid_argument, "--modify_mixlist adds '{}' to two lists", op);
        }
      } else if (key != "to-remove") {
        return fail(Code::invalid_argument,
                    "--modify_mixlist: \"{}\" in \"{}\"; expected \"to-add\" or \"to-remove\"", key,
                    name);
      }
    }
  }
  // What is only removed from a list falls to the gray one.
  for (const auto& [name, content] : *root.object()) {
    const json::Value* removed = content.find("to-remove");
    if (!removed) continue;
    ANYNPU_ASSIGN(const auto names, op_list(*removed, name, "to-remove"));
    for (const std::string& op : names) precision.moved.try_emplace(op, MixList::gray);
  }
  return {};
}

Status parse_keep_dtype(std::string_view text, Precision& precision) {
  return each_line(text, [&](std::string_view line, int number) -> Status {
    if (!line.starts_with(kOpType)) {
      precision.kept_nodes.emplace(line);
      return {};
    }
    const std::string_view op = trim(line.substr(kOpType.size()));
    if (op.empty()) {
      return fail(Code::invalid_argument,
                  "--keep_dtype, line {}: '{}' names no operator; expected OpType::Conv", number,
                  line);
    }
    precision.kept_ops.insert(singleop::onnx_name(op));
    return {};
  });
}

Status parse_custom_dtypes(std::string_view text, Precision& precision) {
  return each_line(text, [&](std::string_view line, int number) -> Status {
    const bool by_op = line.starts_with(kOpType);
    std::string_view rest = by_op ? line.substr(kOpType.size()) : line;
    const size_t split = rest.find("::");
    const std::string_view name = trim(rest.substr(0, split));
    if (split == std::string_view::npos || name.empty()) {
      return fail(Code::invalid_argument,
                  "--customize_dtypes, line {}: '{}'; expected "
                  "name::InputDtype:float16,OutputDtype:float16",
                  number, line);
    }
    ANYNPU_ASSIGN(const DType type, common_type(rest.substr(split + 2), line, number));
    if (by_op) {
      precision.type_of_op[singleop::onnx_name(name)] = type;
    } else {
      precision.type_of_node[std::string(name)] = type;
    }
    return {};
  });
}

bool has_own_type(const Precision& precision, const std::string& node, const std::string& op) {
  if (!precision.any()) return false;
  const auto moved = precision.moved.find(op);
  return precision.kept_nodes.contains(node) || precision.kept_ops.contains(op) ||
         precision.type_of_node.contains(node) || precision.type_of_op.contains(op) ||
         (moved != precision.moved.end() && moved->second == MixList::black);
}

MixList list_of(const Precision& precision, const graph::Node& node) {
  const auto moved = precision.moved.find(node.op);
  if (moved != precision.moved.end()) return moved->second;
  switch (ops::traits_of(node).precision) {
    case ops::PrecisionClass::white:
      return MixList::white;
    case ops::PrecisionClass::gray:
      return MixList::gray;
    default:
      return MixList::black;
  }
}

}  // namespace anynpu::compile
