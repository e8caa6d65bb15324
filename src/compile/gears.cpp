// SPDX-License-Identifier: Apache-2.0
#include "compile/gears.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/text.h"

namespace anynpu::compile {

namespace {

using om::GearKind;

constexpr size_t kMinGears = 2;

const char* option_of(GearKind kind) {
  switch (kind) {
    case GearKind::batch:
      return "--dynamic_batch_size";
    case GearKind::image:
      return "--dynamic_image_size";
    default:
      return "--dynamic_dims";
  }
}

// Empty parts too: they are mistakes to name.
std::vector<std::string_view> parts_between(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Result<int64_t> parse_number(std::string_view text, GearKind kind) {
  std::string_view digits = text;
  while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
  while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc() && end == digits.data() + digits.size() && number > 0) return number;
  return fail(Code::invalid_argument, "{}: '{}' is not a whole number above 0", option_of(kind),
              text);
}

Result<std::vector<std::vector<int64_t>>> parse_list(const std::string& text, GearKind kind) {
  const char gear_separator = kind == GearKind::batch ? ',' : ';';
  std::vector<std::string_view> parts = parts_between(text, gear_separator);
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  std::vector<std::vector<int64_t>> gears;
  for (std::string_view part : parts) {
    std::vector<int64_t> gear;
    for (std::string_view number : parts_between(part, ',')) {
      ANYNPU_ASSIGN(const int64_t value, parse_number(number, kind));
      gear.push_back(value);
    }
    const size_t count = kind == GearKind::image ? 2
                         : gears.empty()         ? gear.size()
                                                 : gears[0].size();
    if (gear.size() != count) {
      return fail(Code::invalid_argument, "{}: the gear '{}' has {} numbers, expected {}",
                  option_of(kind), part, gear.size(), count);
    }
    if (contains(gears, gear)) {
      return fail(Code::invalid_argument, "{}: the gear '{}' is there twice", option_of(kind),
                  part);
    }
    gears.push_back(std::move(gear));
  }
  if (gears.size() < kMinGears || gears.size() > om::kMaxGears) {
    return fail(Code::invalid_argument, "{}={} has {} gears; expected {} to {}", option_of(kind),
                text, gears.size(), kMinGears, om::kMaxGears);
  }
  return gears;
}

const graph::Value& input_at(const graph::Graph& graph, size_t index) {
  return graph.values[static_cast<size_t>(graph.inputs[index])];
}

// Where this kind of gears allows an unknown dimension.
Status check_places(const graph::Value& value, GearKind kind, Format format) {
  const Shape& shape = value.shape;
  const size_t height = format == Format::nhwc ? 1 : 2;
  bool good = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool dynamic = shape[i] == kDynamicDim;
    if (kind == GearKind::batch) good = good && dynamic == (i == 0);
    if (kind == GearKind::image) {
      good = good && shape.size() == 4 && dynamic == (i == height || i == height + 1);
    }
  }
  if (good) return {};
  return fail(Code::invalid_argument,
              "{}: input '{}' is {} in --input_shape; expected -1 for {} and for nothing else",
              option_of(kind), value.name, to_string(shape),
              kind == GearKind::batch ? "the batch (the first extent)" : "height and width");
}

// --dynamic_dims gives the dynamic extents in the order of --input_shape; the model keeps all
// extents in the order of its inputs.
Result<std::vector<int64_t>> fit_dims(const std::vector<int64_t>& gear,
                                      const std::vector<InputShape>& shapes,
                                      const graph::Graph& graph) {
  std::vector<Shape> filled;
  for (graph::ValueId id : graph.inputs) {
    filled.push_back(graph.values[static_cast<size_t>(id)].shape);
  }
  size_t used = 0;
  for (const InputShape& shape : shapes) {
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      if (input_at(graph, i).name != shape.name) continue;
      for (int64_t& extent : filled[i]) {
        if (extent != kDynamicDim) continue;
        if (used < gear.size()) extent = gear[used];
        ++used;
      }
    }
  }
  if (used != gear.size()) {
    return fail(
        Code::invalid_argument,
        "--dynamic_dims: a gear has {} numbers, --input_shape has {} extents of -1; expected "
        "as many",
        gear.size(), used);
  }
  std::vector<int64_t> all;
  for (const Shape& shape : filled) all.insert(all.end(), shape.begin(), shape.end());
  return all;
}

}  // namespace

Result<Gears> parse_gears(const std::string& batch, const std::string& image,
                          const std::string& dims) {
  Gears gears;
  const std::string* text = nullptr;
  for (const auto& [kind, given] :
       {std::pair{GearKind::batch, &batch}, std::pair{GearKind::image, &image},
        std::pair{GearKind::dims, &dims}}) {
    if (given->empty()) continue;
    if (text) {
      return fail(Code::invalid_argument, "{} and {} exclude each other; give one of them",
                  option_of(gears.kind), option_of(kind));
    }
    gears.kind = kind;
    text = given;
  }
  if (text) {
    ANYNPU_ASSIGN(gears.values, parse_list(*text, gears.kind));
  }
  return gears;
}

Result<std::vector<std::vector<int64_t>>> fit_gears(const Gears& gears,
                                                    const std::vector<InputShape>& shapes,
                                                    const graph::Graph& graph, Format format) {
  bool any = false;
  for (graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    if (is_static(value.shape)) continue;
    any = true;
    if (gears.kind != GearKind::dims) ANYNPU_TRY(check_places(value, gears.kind, format));
  }
  for (const InputShape& shape : shapes) {
    for (const Extent& extent : shape.extents) {
      if (extent.is_fixed() || extent == Extent{0, -1}) continue;
      return fail(Code::invalid_argument,
                  "{}: input '{}' has a range in --input_shape; expected -1 where the gear chooses",
                  option_of(gears.kind), shape.name);
    }
  }
  if (!any) {
    return fail(Code::invalid_argument,
                "{} needs an extent of -1 in --input_shape: the one that the gear chooses",
                option_of(gears.kind));
  }
  if (gears.kind != GearKind::dims) return gears.values;
  std::vector<std::vector<int64_t>> fitted;
  for (const auto& gear : gears.values) {
    ANYNPU_ASSIGN(auto all, fit_dims(gear, shapes, graph));
    fitted.push_back(std::move(all));
  }
  return fitted;
}

Result<std::vector<Shape>> gear_shapes(const graph::Graph& graph, GearKind kind,
                                       const std::vector<int64_t>& gear) {
  std::vector<Shape> shapes;
  size_t used = 0;
  for (graph::ValueId id : graph.inputs) {
    Shape shape = graph.values[static_cast<size_t>(id)].shape;
    if (kind != GearKind::dims) used = 0;
    for (int64_t& extent : shape) {
      if (kind == GearKind::dims ? used < gear.size() : extent == kDynamicDim && used < gear.size())
        extent = gear[used++];
    }
    if (!is_static(shape)) {
      return fail(Code::corrupt_model, "a gear of {} numbers leaves an extent of '{}' open",
                  gear.size(), graph.values[static_cast<size_t>(id)].name);
    }
    ANYNPU_TRY(check_shape(shape), "in a gear of the model");
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Result<size_t> largest_gear(const graph::Graph& graph, GearKind kind,
                            const std::vector<std::vector<int64_t>>& gears) {
  size_t largest = 0, most = 0;
  for (size_t i = 0; i < gears.size(); ++i) {
    ANYNPU_ASSIGN(const auto shapes, gear_shapes(graph, kind, gears[i]));
    size_t bytes = 0;
    for (size_t input = 0; input < shapes.size(); ++input) {
      const DType dtype = graph.values[static_cast<size_t>(graph.inputs[input])].dtype;
      bytes += bytes_of(dtype, static_cast<size_t>(element_count(shapes[input])));
    }
    if (bytes <= most) continue;
    most = bytes;
    largest = i;
  }
  return largest;
}

}  // namespace anynpu::compile
