// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: along each resized axis an output index is a weighted sum of input indices
// (its taps); axes are done one after the other, in double. Nearest neighbours are copied as they
// are.
#include "ops/resize/resize.h"

#include <algorithm>
#include <cmath>

#include "ops/data_movement/axes.h"
#include "ops/data_movement/mapped_copy.h"
#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/resize/weighted.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::resize {

namespace {

struct Axis {
  int64_t in = 1, out = 1;
  double scale = 1, roi_start = 0, roi_end = 1;
};

std::vector<double> reals_of(const Operand& operand) {
  std::vector<double> values;
  if (!operand.present || !operand.is_constant) return values;
  const auto count = element_count(operand.shape);
  for (int64_t i = 0; i < count; ++i)
    values.push_back(load_one<double>(operand.dtype, operand.constant.data(), i));
  return values;
}

bool is_cropping(const OpContext& context) {
  return context.string_attr("coordinate_transformation_mode") == "tf_crop_and_resize";
}

struct Request {
  bool known = true;
  std::vector<Axis> axes;  // one per dimension
};

// Which input holds what differs by version: scales only (Upsample 9, Resize 10) or roi, scales,
// sizes.
Result<Request> request_of(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const bool full = context.schema->inputs.size() == 4,
             by_attr = context.schema->inputs.size() == 1;
  Request request;
  request.axes.resize(x.shape.size());
  for (size_t i = 0; i < x.shape.size(); ++i) request.axes[i].in = request.axes[i].out = x.shape[i];
  const size_t scale_input = full ? 2 : 1;
  const auto given = [&](size_t i) {
    return context.has_input(i) &&
           !(context.inputs[i].has_shape && context.inputs[i].shape == Shape{0});
  };
  const bool with_sizes = full && given(3), with_scales = !by_attr && given(scale_input);
  const bool crop = is_cropping(context);
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    const bool needed =
        i == scale_input ? with_scales : full && (i == 3 ? with_sizes : crop && given(1));
    if (needed && !context.inputs[i].is_constant) request.known = false;
  }
  if (!request.known) return request;
  std::vector<int64_t> axes = context.ints_attr("axes");
  if (!context.has_attr("axes")) {
    for (int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  for (int64_t& axis : axes) {
    ANYNPU_ASSIGN(axis, normal_axis(context, axis, x.rank()));
  }
  std::vector<double> values;
  if (with_sizes)
    values = reals_of(context.inputs[3]);
  else if (with_scales)
    values = reals_of(context.inputs[scale_input]);
  else if (by_attr) {
    const auto found = context.node->attrs.find("scales");
    if (const auto* list = found == context.node->attrs.end()
                               ? nullptr
                               : std::get_if<std::vector<float>>(&found->second)) {
      values.assign(list->begin(), list->end());
    }
  }
  bool fits = values.size() == axes.size();
  for (double value : values)
    fits = fits && (with_sizes ? value >= 0 : value > 0) && value < 0x1p31;
  if (!fits) {
    return fail(Code::invalid_argument,
                "{}: {} scales or sizes for {} axes, expected one positive number each",
                context.label(), values.size(), axes.size());
  }
  const std::string policy = context.string_attr("keep_aspect_ratio_policy");
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = request.axes[static_cast<size_t>(axes[i])];
    axis.scale = with_sizes ? values[i] / static_cast<double>(axis.in) : values[i];
    axis.out = static_cast<int64_t>(
        with_sizes ? values[i] : std::floor(static_cast<double>(axis.in) * values[i]));
    common = i == 0                   ? axis.scale
             : policy == "not_larger" ? std::min(common, axis.scale)
                                      : std::max(common, axis.scale);
  }
  if (with_sizes && (policy == "not_larger" || policy == "not_smaller")) {
    for (int64_t at : axes) {
      Axis& axis = request.axes[static_cast<size_t>(at)];
      axis.scale = common;
      axis.out = static_cast<int64_t>(std::floor(common * static_cast<double>(axis.in) + 0.5));
    }
  }
  if (crop && full) {
    const std::vector<double> roi = reals_of(context.inputs[1]);
    if (roi.size() != 2 * axes.size()) {
      return fail(Code::invalid_argument, "{}: roi has {} values, expected {}", context.label(),
                  roi.size(), 2 * axes.size());
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      request.axes[static_cast<size_t>(axes[i])].roi_start = roi[i];
      request.axes[static_cast<size_t>(axes[i])].roi_end = roi[i + axes.size()];
    }
  }
  return request;
}

// Attributes that choose, with their words.
struct Choice {
  std::string_view attr;
  std::vector<std::string_view> words;
};
const Choice kChoices[] = {
    {"mode", {"nearest", "linear", "cubic", "bilinear"}},
    {"coordinate_transformation_mode",
     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
      "tf_crop_and_resize", "tf_half_pixel_for_nn"}},
    {"nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}},
    {"keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}},
};

Status check_choices(const OpContext& context) {
  for (const Choice& choice : kChoices) {
    if (!context.has_attr(choice.attr)) continue;
    const std::string text = context.string_attr(choice.attr);
    std::string words;
    bool known = false;
    for (std::string_view word : choice.words) {
      known = known || word == text;
      words.append(words.empty() ? "" : ", ").append(word);
    }
    if (!known) {
      return fail(Code::invalid_argument, "{}: {} is '{}', expected one of {}", context.label(),
                  choice.attr, text, words);
    }
  }
  return {};
}

Status resize_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  ANYNPU_TRY(check_choices(context));
  if (!x.fully_known()) return {};
  ANYNPU_ASSIGN(const Request request, request_of(context));
  if (!request.known) return {};
  Shape shape;
  for (const Axis& axis : request.axes) {
    if (axis.in == 0 && axis.out != 0) {
      return fail(Code::shape_mismatch, "{}: an axis of 0 cannot be resized to {}", context.label(),
                  axis.out);
    }
    shape.push_back(axis.out);
  }
  return set_output(context, 0, x.dtype, std::move(shape));
}

// The coordinate in the input that output index `x` looks at; `outside` only for cropping.
double source(const std::string& mode, const Axis& axis, double x, bool& outside) {
  const auto in = static_cast<double>(axis.in);
  const double width = axis.scale * in;
  if (mode == "align_corners") return width == 1 ? 0 : x * (in - 1) / (width - 1);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "tf_crop_and_resize") {
    const double span = (axis.roi_end - axis.roi_start) * (in - 1);
    const double at = (width == 1 ? span / 2 : x * span / (width - 1)) + axis.roi_start * (in - 1);
    outside = at < 0 || at > in - 1;
    return at;
  }
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (mode == "pytorch_half_pixel" && width == 1) return -0.5;
  double offset = 0;
  if (mode == "half_pixel_symmetric") offset = in / 2 * (1 - static_cast<double>(axis.out) / width);
  return offset + (x + 0.5) / axis.scale - 0.5;
}

double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double nearest(double at, const std::string& how) {
  if (how == "floor") return std::floor(at);
  if (how == "ceil") return std::ceil(at);
  const double low = std::floor(at), rest = at - low;
  return rest < 0.5 || (rest == 0.5 && how == "round_prefer_floor") ? low : low + 1;
}

Taps taps_of(const OpContext& context, const Axis& axis) {
  const std::string mode = context.string_attr("mode");
  std::string where = context.string_attr("coordinate_transformation_mode");
  std::string how = context.string_attr("nearest_mode");
  if (where.empty()) {  // versions without the attribute; Resize 10 shrinks as onnxruntime does
    where = "asymmetric";
    how = context.schema->name == "Resize" && axis.scale < 1 ? "ceil" : "floor";
  }
  const bool exclude = context.int_attr("exclude_outside") != 0;
  const bool is_cubic = mode == "cubic", is_nearest = mode == "nearest";
  const double a = context.has_attr("cubic_coeff_a")
                       ? static_cast<double>(context.float_attr("cubic_coeff_a"))
                       : -0.75;
  const double stretch = context.int_attr("antialias") != 0 ? std::min(axis.scale, 1.0) : 1.0;
  const double reach = std::min((is_cubic ? 2 : 1) / stretch, 0x1p31);
  const auto start = static_cast<int64_t>(std::floor(-reach) + 1);
  Taps taps;
  taps.per_output = is_nearest ? 1 : 2 - 2 * start;
  for (int64_t o = 0; o < axis.out; ++o) {
    bool outside = false;
    const double at = source(where, axis, static_cast<double>(o), outside);
    taps.outside.push_back(outside);
    double sum = 0;
    const size_t first = taps.weight.size();
    for (int64_t k = 0; k < taps.per_output; ++k) {
      const double index =
          is_nearest ? nearest(at, how) : std::floor(at) + static_cast<double>(start + k);
      const double distance = (index - at) * stretch;
      double weight = is_nearest ? 1
                      : is_cubic ? cubic(distance, a)
                                 : std::max(0.0, 1 - std::fabs(distance));
      if (exclude && (index < 0 || index > static_cast<double>(axis.in - 1))) weight = 0;
      // NaN, of a region that is none, looks at the first element; its weight is NaN.
      taps.index.push_back(
          index > 0 ? static_cast<int64_t>(std::min(index, static_cast<double>(axis.in - 1))) : 0);
      taps.weight.push_back(weight);
      sum += weight;
    }
    for (size_t k = first; k < taps.weight.size(); ++k) {
      if (sum != 0 && (exclude || stretch < 1)) taps.weight[k] /= sum;
    }
  }
  return taps;
}

// Axes that keep their extent and scale are skipped.
bool changes(const Axis& axis, bool crop) { return crop || axis.in != axis.out || axis.scale != 1; }

PlanResult plan_nearest(const OpContext& context, const Request& request) {
  const auto strides = strides_of(context.inputs[0].shape);
  AxisMaps maps(strides.size());
  for (size_t d = 0; d < strides.size(); ++d) {
    const Axis& axis = request.axes[d];
    const bool changed = changes(axis, is_cropping(context));
    const Taps taps = changed ? taps_of(context, axis) : Taps{};
    for (int64_t o = 0; o < axis.out; ++o) {
      const auto at = static_cast<size_t>(o);
      const int64_t from = !changed ? o : taps.outside[at] ? -1 : taps.index[at];
      maps[d].push_back(from < 0 ? -1 : from * strides[d]);
    }
  }
  const DType type = context.outputs[0].dtype;
  const Outside outside = {static_cast<double>(context.float_attr("extrapolation_value")), 0};
  std::vector<std::byte> fill(size_of(type));
  store_block<double>(part_of(type))(fill.data(), 0, outside.data(), parts_of(type));
  return plan_mapped_copy(context.outputs[0].shape, std::move(maps), size_of(type),
                          {-1, std::move(fill)});
}

// Those that shrink most come first, of equals the outer: the others have less to do then. Cropped
// ones go from the inner to the outer, so that a value outside along an outer one is set last.
std::vector<size_t> axes_in_order(const Request& request, bool crop) {
  std::vector<size_t> order;
  for (size_t d = request.axes.size(); d-- > 0;) {
    if (changes(request.axes[d], crop)) order.push_back(d);
  }
  const auto growth = [&](size_t d) {
    return static_cast<double>(request.axes[d].out) / static_cast<double>(request.axes[d].in);
  };
  if (!crop)
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const double first = growth(a), second = growth(b);
      return first < second || (first == second && first < 1 && a < b);
    });
  return order;
}

PlanResult plan_weighted(const OpContext& context, const Request& request) {
  const DType type = context.inputs[0].dtype;
  Shape shape = context.inputs[0].shape;
  WeightedResize r{.parts = parts_of(type),
                   .load = load_block<double>(part_of(type)),
                   .store = store_block<double>(part_of(type)),
                   .outside = {static_cast<double>(context.float_attr("extrapolation_value")), 0}};
  const bool crop = is_cropping(context);
  size_t lead = 0;
  while (lead < shape.size() && !changes(request.axes[lead], crop)) ++lead;
  if (lead == shape.size()) lead = 0;  // a copy
  for (size_t i = 0; i < lead; ++i) r.planes *= shape[i];
  r.in_plane = r.parts;
  for (size_t i = lead; i < shape.size(); ++i) r.in_plane *= shape[i];
  r.most = r.out_plane = r.in_plane;
  for (size_t d : axes_in_order(request, crop)) {
    const Axis& axis = request.axes[d];
    Pass pass;
    for (size_t i = lead; i < d; ++i) pass.outer *= shape[i];
    pass.inner = r.parts;
    for (size_t i = d + 1; i < shape.size(); ++i) pass.inner *= shape[i];
    pass.in = axis.in, pass.out = axis.out;
    pass.taps = taps_of(context, axis);
    shape[d] = axis.out;
    r.out_plane = pass.outer * pass.out * pass.inner;
    r.most = std::max(r.most, r.out_plane);
    r.passes.push_back(std::move(pass));
  }
  r.threads = context.target.threads;
  return plan_weighted_resize(std::move(r));
}

PlanResult plan_resize(const OpContext& context) {
  ANYNPU_ASSIGN(const Request request, request_of(context));
  return context.string_attr("mode") == "nearest" ? plan_nearest(context, request)
                                                  : plan_weighted(context, request);
}

}  // namespace

void register_weighted_axis(Registry& registry);  // weighted_axis.cpp

void register_family(Registry& registry) {
  register_weighted_axis(registry);
  register_grid_sample(registry);
  const AttrSchema mode{"mode", AttrKind::s, std::string_view("nearest")};
  OpSchema schema{.name = "Upsample",
                  .since = 7,
                  .inputs = {{"X", "T"}},
                  .outputs = {{"Y", "T"}},
                  .types = {{"T", kValues}},
                  .attrs = {mode, {"scales", AttrKind::floats, {}, true}},
                  .traits = OpTraits::general()
                                .with(PrecisionClass::gray)
                                .with(SizedBy::parameters)
                                .with(Strings::moved),
                  .shape = resize_rule};
  registry.add(schema);
  schema.since = 9;
  schema.inputs.push_back({"scales", "S"});
  schema.types.push_back({"S", {DType::f32}});
  schema.attrs = {mode};
  registry.add(schema);
  schema.name = "Resize";
  schema.since = 10;
  registry.add(schema);
  schema.since = 11;
  schema.inputs = {{"X", "T"},
                   {"roi", "R", Presence::optional},
                   {"scales", "S", Presence::optional},
                   {"sizes", "I", Presence::optional}};
  schema.types = {{"T", kValues}, {"R", kFloats}, {"S", {DType::f32}}, {"I", {DType::i64}}};
  schema.attrs = {mode,
                  {"coordinate_transformation_mode", AttrKind::s, std::string_view("half_pixel")},
                  {"cubic_coeff_a", AttrKind::f, -0.75f},
                  {"exclude_outside", AttrKind::i, int64_t{0}},
                  {"extrapolation_value", AttrKind::f, 0.0f},
                  {"nearest_mode", AttrKind::s, std::string_view("round_prefer_floor")}};
  registry.add(schema);
  schema.since = 18;
  schema.attrs.insert(schema.attrs.end(),
                      {{"antialias", AttrKind::i, int64_t{0}},
                       {"axes", AttrKind::ints},
                       {"keep_aspect_ratio_policy", AttrKind::s, std::string_view("stretch")}});
  registry.add(schema);
  registry.add(KernelDef{.op = "Upsample",
                         .name = "weighted_axes",
                         .types = kValues,
                         .create = create_with_runtime_params<plan_resize, 0b10>});
  registry.add(KernelDef{.op = "Resize",
                         .name = "weighted_axes",
                         .types = kValues,
                         .create = create_with_runtime_params<plan_resize, 0b1110>});
}

}  // namespace anynpu::ops::resize
