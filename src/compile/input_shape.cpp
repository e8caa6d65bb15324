// SPDX-License-Identifier: Apache-2.0
#include "compile/input_shape.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace anynpu::compile {

namespace {

bool parse_number(std::string_view text, int64_t& out) {
  text = trim(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

Result<Extent> parse_extent(std::string_view text, std::string_view part) {
  Extent extent;
  const size_t tilde = text.find('~');
  bool good = false;
  if (tilde == std::string_view::npos) {
    good = parse_number(text, extent.low) && extent.low >= kDynamicDim;
    extent.high = extent.low;
    if (extent.low == kDynamicDim) extent = Extent{0, -1};
  } else {
    good = parse_number(text.substr(0, tilde), extent.low) &&
           parse_number(text.substr(tilde + 1), extent.high) && extent.low >= 0 &&
           (extent.high == -1 || extent.high >= extent.low);
  }
  if (!good) {
    return fail(
        Code::invalid_argument,
        "--input_shape: the extent '{}' in '{}' is not a number, -1 or a range such as 1~10", text,
        part);
  }
  return extent;
}

Result<InputShape> parse_part(std::string_view part) {
  const size_t colon = part.rfind(':');
  InputShape shape;
  if (colon != std::string_view::npos) shape.name = trim(part.substr(0, colon));
  if (shape.name.empty()) {
    return fail(Code::invalid_argument,
                "--input_shape: '{}' has no name; expected \"name1:n,c,h,w;name2:n,c,h,w\"", part);
  }
  std::string_view rest = trim(part.substr(colon + 1));
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    ANYNPU_ASSIGN(const Extent extent, parse_extent(rest.substr(0, comma), part));
    shape.extents.push_back(extent);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) {
      return fail(Code::invalid_argument, "--input_shape: '{}' ends in a comma; expected an extent",
                  part);
    }
  }
  return shape;
}

Status apply(const InputShape& shape, graph::Value& value) {
  Shape fixed;
  for (const Extent& extent : shape.extents) {
    fixed.push_back(extent.is_fixed() ? extent.low : kDynamicDim);
  }
  ANYNPU_TRY(check_shape(fixed), "in --input_shape for '{}'", shape.name);
  bool fits = !value.has_shape || value.shape.size() == fixed.size();
  for (size_t i = 0; fits && value.has_shape && i < fixed.size(); ++i) {
    fits = fixed[i] == kDynamicDim || value.shape[i] == kDynamicDim || value.shape[i] == fixed[i];
  }
  // A fixed batch may be replaced: exporters freeze the one they were called with.
  if (!fits && value.has_shape && value.shape.size() == fixed.size() && !fixed.empty()) {
    fits = std::equal(
        fixed.begin() + 1, fixed.end(), value.shape.begin() + 1,
        [](int64_t a, int64_t b) { return a == kDynamicDim || b == kDynamicDim || a == b; });
  }
  if (!fits) {
    return fail(
        Code::shape_mismatch,
        "--input_shape: input '{}' is {} in the model, {} on the command line; expected the "
        "same rank and the same fixed extents",
        shape.name, to_string(value.shape), to_string(fixed));
  }
  value.shape = std::move(fixed);
  value.has_shape = true;
  return {};
}

// "x:1,224,224,3": the input as --input_shape has it, with 1 for a dynamic extent.
std::string text_to_type(const graph::Value& value) {
  if (!value.has_shape) return value.name + ":1,224,224,3";
  std::string extents;
  for (int64_t extent : value.shape)
    extents += format("{}{}", extents.empty() ? "" : ",", extent < 0 ? 1 : extent);
  return format("{}:{}", value.name, extents);
}

}  // namespace

Result<std::vector<InputShape>> parse_input_shapes(std::string_view text) {
  std::vector<InputShape> shapes;
  text = trim(text);
  while (!text.empty()) {
    const size_t semicolon = text.find(';');
    const std::string_view part = trim(text.substr(0, semicolon));
    if (!part.empty()) {
      ANYNPU_ASSIGN(InputShape shape, parse_part(part));
      for (const InputShape& other : shapes) {
        if (other.name == shape.name) {
          return fail(Code::invalid_argument, "--input_shape: input '{}' is there twice",
                      shape.name);
        }
      }
      shapes.push_back(std::move(shape));
    }
    if (semicolon == std::string_view::npos) break;
    text.remove_prefix(semicolon + 1);
  }
  return shapes;
}

Result<bool> apply_input_shapes(const std::vector<InputShape>& shapes, graph::Graph& graph) {
  std::string names;
  for (graph::ValueId id : graph.inputs) {
    names += (names.empty() ? "" : ", ") + graph.values[static_cast<size_t>(id)].name;
  }
  for (const InputShape& shape : shapes) {
    graph::Value* found = nullptr;
    for (graph::ValueId id : graph.inputs) {
      graph::Value& value = graph.values[static_cast<size_t>(id)];
      if (value.name == shape.name) found = &value;
    }
    if (!found) {
      return fail(Code::not_found, "--input_shape: the model has no input '{}'; its inputs are: {}",
                  shape.name, names);
    }
    ANYNPU_TRY(apply(shape, *found));
  }
  bool fixed = true;
  std::string unknown, option;
  for (graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    const bool known = value.has_shape && is_static(value.shape);
    const bool given = std::any_of(shapes.begin(), shapes.end(), [&](const InputShape& shape) {
      return shape.name == value.name;
    });
    fixed = fixed && known;
    option += (option.empty() ? "" : ";") + text_to_type(value);
    if (known || given) continue;
    unknown += format("{}input '{}' has the shape {}", unknown.empty() ? "" : ", ", value.name,
                      value.has_shape ? to_string(value.shape) : "(unknown)");
  }
  if (unknown.empty()) return fixed;
  return fail(Code::unsupported_shape,
              "{} in the model; give its extents, such as --input_shape=\"{}\"", unknown, option);
}

Result<std::vector<InputShape>> parse_input_shape_range(std::string_view text) {
  std::string plain;
  for (const std::string& part : split_words(text, ';')) {
    const size_t bracket = part.rfind('[');
    const std::string_view name = trim(std::string_view(part).substr(0, bracket));
    if (bracket == std::string::npos || !name.ends_with(':') ||
        part.find(']', bracket) != part.size() - 1) {
      return fail(Code::invalid_argument,
                  "--input_shape_range has '{}'; expected \"name1:[1~10,3,-1];name2:[8~20]\"",
                  part);
    }
    plain += format("{}{};", name, part.substr(bracket + 1, part.size() - bracket - 2));
  }
  return parse_input_shapes(plain);
}

}  // namespace anynpu::compile
