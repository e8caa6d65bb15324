// SPDX-License-Identifier: Apache-2.0
// Convolution, pooling, resizing and normalisation of pictures.
#include <algorithm>

#include "base/text.h"
#include "import/mindspore/rules.h"

namespace anynpu::mindspore {

namespace {

using Ints = std::vector<int64_t>;

// A list for the picture's axes as the vendor has it: N, C, H, W.
Ints four(const Ints& given) {
  if (given.size() == 4) return given;
  if (given.size() == 1) return {1, 1, given[0], given[0]};
  return given.size() == 2 ? Ints{1, 1, given[0], given[1]} : given;
}

// Newer files have the words of paddings as numbers.
const std::vector<std::string> kPadModes = {"PAD", "SAME", "VALID"};

Result<std::string> pad_mode(const Call& call, size_t index) {
  const Item& item = call.stated("pad_mode", index);
  if (item.is_nothing()) return std::string("VALID");
  ANYNPU_ASSIGN(std::string word, call.word(item, "pad_mode", kPadModes));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return word;
}

Status check_layout(const Call& call, size_t index) {
  for (const char* name : {"format", "data_format"}) {
    const Item& item = call.stated(name, index);
    if (item.is_nothing()) continue;
    ANYNPU_ASSIGN(const std::string word, call.word(item, name, {"NCHW", "NHWC"}));
    if (word == "NCHW") return {};
    return fail(Code::unsupported_feature,
                "its format is {}, expected NCHW; export the model with data_format='NCHW'", word);
  }
  return {};
}

Result<Ints> pair_of(const Call& call, const Item& item, const char* what, Ints otherwise) {
  if (item.is_nothing()) return otherwise;
  ANYNPU_ASSIGN(Ints list, call.integers(item, what));
  if (list.empty()) return otherwise;
  if (list.size() == 1) list.push_back(list[0]);
  return list;
}

// strides, pads and dilations of Conv2D and of the way back, from the attributes of the primitive.
Result<singleop::Attrs> conv_attrs(const Call& call) {
  ANYNPU_TRY(check_layout(call, 99));
  singleop::Attrs attrs;
  ANYNPU_ASSIGN(const Ints strides, pair_of(call, call.stated("stride", 99), "stride", {1, 1}));
  ANYNPU_ASSIGN(const Ints dilations,
                pair_of(call, call.stated("dilation", 99), "dilation", {1, 1}));
  attrs["strides"] = four(strides);
  attrs["dilations"] = four(dilations);
  ANYNPU_ASSIGN(const std::string mode, pad_mode(call, 99));
  Ints pads = {0, 0, 0, 0};
  if (mode == "SAME") attrs["padding"] = std::string("SAME");
  if (mode == "PAD") {
    ANYNPU_ASSIGN(pads, call.integers(call.stated("pad", 99), "pad"));
  }
  if (mode != "SAME") attrs["pads"] = pads;
  const Item& groups = call.stated(call.attributes.count("group") ? "group" : "groups", 99);
  if (!groups.is_nothing()) {
    ANYNPU_ASSIGN(const int64_t count, call.integer(groups, "group"));
    attrs["groups"] = count;
  }
  attrs["data_format"] = std::string("NCHW");
  return attrs;
}

// Row o has 1 / n at each of the n pixels that part o of `out` parts covers.
std::vector<float> shares(int64_t in, int64_t out) {
  std::vector<float> rows(static_cast<size_t>(in * out), 0.0f);
  for (int64_t o = 0; o < out; ++o) {
    const int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
    for (int64_t i = begin; i < end; ++i)
      rows[static_cast<size_t>(o * in + i)] = 1.0f / static_cast<float>(end - begin);
  }
  return rows;
}

Result<ValueId> share_table(Call& call, int64_t in, int64_t out) {
  const std::vector<float> rows = shares(in, out);
  auto owner = std::make_shared<const std::vector<float>>(rows);
  return call.graph.add_constant(format("{}/shares", call.name), DType::f32, {out, in},
                                 {owner, std::as_bytes(std::span(*owner))});
}

}  // namespace

Values rule_conv(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const ValueId w, call.tensor(call.argument(1)));
  ANYNPU_ASSIGN(singleop::Attrs attrs, conv_attrs(call));
  return call.add("Conv2D", {x, w}, std::move(attrs), Format::nchw);
}

// x, filter, the size of what comes out.
Values rule_conv_back(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const ValueId w, call.tensor(call.argument(1)));
  ANYNPU_ASSIGN(const Ints size, call.integers(call.argument(2), "input_size"));
  ANYNPU_ASSIGN(singleop::Attrs attrs, conv_attrs(call));
  attrs["input_size"] = size;
  return call.add("Conv2DBackpropInputD", {w, x}, std::move(attrs), Format::nchw);
}

// input, weight, bias, stride, padding, dilation, groups.
Values rule_conv_ext(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const ValueId w, call.tensor(call.argument(1)));
  ANYNPU_ASSIGN(const ValueId bias, call.tensor(call.argument(2)));
  ANYNPU_ASSIGN(const Ints strides, pair_of(call, call.argument(3), "stride", {1, 1}));
  ANYNPU_ASSIGN(const Ints pad, pair_of(call, call.argument(4), "padding", {0, 0}));
  ANYNPU_ASSIGN(const Ints dilations, pair_of(call, call.argument(5), "dilation", {1, 1}));
  int64_t groups = 1;
  if (call.has(6)) {
    ANYNPU_ASSIGN(groups, call.integer(call.argument(6), "groups"));
  }
  if (pad.size() != 2) {
    return fail(Code::invalid_argument, "padding has {} numbers, expected 2", pad.size());
  }
  std::vector<ValueId> inputs = {x, w};
  if (bias != kNoValue) inputs.push_back(bias);
  return call.add("Conv2D", std::move(inputs),
                  {{"strides", four(strides)},
                   {"dilations", four(dilations)},
                   {"pads", Ints{pad[0], pad[0], pad[1], pad[1]}},
                   {"groups", groups},
                   {"data_format", std::string("NCHW")}},
                  Format::nchw);
}

// MaxPool and AvgPool: x, kernel_size, strides, pad_mode, format.
Values rule_pool(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_TRY(check_layout(call, 4));
  ANYNPU_ASSIGN(const Ints window,
                pair_of(call, call.stated("kernel_size", 1), "kernel_size", {1, 1}));
  ANYNPU_ASSIGN(const Ints strides, pair_of(call, call.stated("strides", 2), "strides", {1, 1}));
  ANYNPU_ASSIGN(const std::string mode, pad_mode(call, 3));
  if (mode == "PAD") {
    return fail(Code::unsupported_feature, "its pad_mode is PAD, expected VALID or SAME");
  }
  return call.add(call.type, {x},
                  {{"ksize", four(window)},
                   {"strides", four(strides)},
                   {"padding", mode},
                   {"data_format", std::string("NCHW")}},
                  Format::nchw);
}

// x, kernel_size, strides, pads, dilation, ceil_mode; the indices are not there.
Values rule_max_pool_indices(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const Ints window, pair_of(call, call.argument(1), "kernel_size", {1, 1}));
  ANYNPU_ASSIGN(const Ints strides, pair_of(call, call.argument(2), "strides", window));
  ANYNPU_ASSIGN(const Ints pad, pair_of(call, call.argument(3), "pads", {0, 0}));
  ANYNPU_ASSIGN(const Ints dilation, pair_of(call, call.argument(4), "dilation", {1, 1}));
  bool ceil = false;
  if (call.has(5)) {
    ANYNPU_ASSIGN(ceil, call.flag(call.argument(5), "ceil_mode"));
  }
  if (dilation != Ints{1, 1} || pad.size() != 2) {
    return fail(Code::unsupported_feature, "its dilation is {}, expected 1", to_string(dilation));
  }
  return call.add("MaxPoolV3", {x},
                  {{"ksize", four(window)},
                   {"strides", four(strides)},
                   {"padding_mode", std::string("CALCULATED")},
                   {"pads", Ints{pad[0], pad[0], pad[1], pad[1]}},
                   {"ceil_mode", ceil},
                   {"data_format", std::string("NCHW")}},
                  Format::nchw);
}

// Each pixel is the mean of its part of the image: two products.
Values rule_adaptive_average(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(Ints size, pair_of(call, call.stated("output_size", 1), "output_size", {1, 1}));
  if (x < 0) return std::vector<ValueId>(call.output_count, OpGraph::kUnknown);
  const Shape shape = call.shape(x);
  if (shape.size() != 4 || shape[2] < 1 || shape[3] < 1 || size.size() != 2) {
    return fail(Code::unsupported_shape, "its input has the shape {}, expected 4 known axes",
                to_string(shape));
  }
  for (size_t a = 0; a < 2; ++a) size[a] = size[a] < 1 ? shape[a + 2] : size[a];
  if (size == Ints{1, 1}) return call.add("GlobalAveragePool", {x}, {}, Format::nchw);
  constexpr int64_t kMost = 1 << 12;
  if (std::max({size[0], size[1], shape[2], shape[3]}) > kMost) {
    return fail(Code::unsupported_shape, "its picture is {} and becomes {}, expected at most {}",
                to_string(shape), to_string(size), kMost);
  }
  ANYNPU_ASSIGN(const ValueId rows, share_table(call, shape[2], size[0]));
  ANYNPU_ASSIGN(const ValueId columns, share_table(call, shape[3], size[1]));
  ANYNPU_ASSIGN(const ValueId part, call.step("BatchMatMulV2", {rows, x}));
  return call.add("BatchMatMulV2", {part, columns}, {{"adj_x2", true}});
}

Values rule_pixel_shuffle(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const int64_t factor, call.integer(call.argument(1), "upscale_factor"));
  return call.add("DepthToSpace", {x}, {{"block_size", factor}, {"mode", std::string("CRD")}},
                  Format::nchw);
}

// image, size, align_corners, half_pixel_centers.
Values rule_resize(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  const Item& stated = call.stated("size", 1);
  ANYNPU_ASSIGN(const Ints size, call.integers(stated, "size"));
  bool corners = false, half = false;
  if (const Item& item = call.stated("align_corners", 2); !item.is_nothing()) {
    ANYNPU_ASSIGN(corners, call.flag(item, "align_corners"));
  }
  if (const Item& item = call.stated("half_pixel_centers", 3); !item.is_nothing()) {
    ANYNPU_ASSIGN(half, call.flag(item, "half_pixel_centers"));
  }
  const bool linear = call.type.starts_with("ResizeBilinear");
  return call.add(linear ? "ResizeBilinearV2D" : "ResizeNearestNeighborV2D", {x},
                  {{"size", size}, {"align_corners", corners}, {"half_pixel_centers", half}},
                  Format::nchw);
}

// x, output_size, scales, align_corners: one of size and scales is there.
Values rule_upsample(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  if (x < 0) return std::vector<ValueId>(call.output_count, OpGraph::kUnknown);
  if (!call.has(1)) {
    return fail(Code::unsupported_feature,
                "it has no output_size; give the size instead of scale_factor in the model");
  }
  ANYNPU_ASSIGN(const Ints size, call.integers(call.argument(1), "output_size"));
  const bool linear = call.type == "UpsampleBilinear2D";
  bool corners = false;
  if (linear && call.has(3)) {
    ANYNPU_ASSIGN(corners, call.flag(call.argument(3), "align_corners"));
  }
  return call.add(
      linear ? "ResizeBilinearV2D" : "ResizeNearestNeighborV2D", {x},
      {{"size", size}, {"align_corners", corners}, {"half_pixel_centers", linear && !corners}},
      Format::nchw);
}

// x, scale, bias, mean, variance, is_training, epsilon, momentum, format.
Values rule_batch_norm(Call& call) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < 5; ++i) {
    ANYNPU_ASSIGN(const ValueId id, call.tensor(call.argument(i)));
    inputs.push_back(id);
  }
  if (const Item& item = call.stated("is_training", 5); !item.is_nothing()) {
    ANYNPU_ASSIGN(const bool training, call.flag(item, "is_training"));
    if (training) {
      return fail(Code::unsupported_feature,
                  "it was exported for training; call net.set_train(False) before "
                  "mindspore.export");
    }
  }
  ANYNPU_TRY(check_layout(call, 8));
  double epsilon = 1e-5;
  if (const Item& item = call.stated("epsilon", 6); !item.is_nothing()) {
    ANYNPU_ASSIGN(epsilon, call.real(item, "epsilon"));
  }
  return call.add("BatchNorm", std::move(inputs),
                  {{"is_training", false}, {"epsilon", static_cast<float>(epsilon)}}, Format::nchw);
}

// x, groups, weight, bias, epsilon.
Values rule_group_norm(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const int64_t groups, call.integer(call.argument(1), "num_groups"));
  ANYNPU_ASSIGN(const ValueId weight, call.tensor(call.argument(2)));
  ANYNPU_ASSIGN(const ValueId bias, call.tensor(call.argument(3)));
  double epsilon = 1e-5;
  if (call.has(4)) {
    ANYNPU_ASSIGN(epsilon, call.real(call.argument(4), "eps"));
  }
  return call.add("GroupNorm", {x, weight, bias},
                  {{"num_groups", groups}, {"epsilon", static_cast<float>(epsilon)}}, Format::nchw);
}

// x, normalized_shape, weight, bias, eps: the axes at the end.
Values rule_layer_norm_ext(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const Ints shape, call.integers(call.argument(1), "normalized_shape"));
  ANYNPU_ASSIGN(ValueId weight, call.tensor(call.argument(2)));
  ANYNPU_ASSIGN(const ValueId bias, call.tensor(call.argument(3)));
  double epsilon = 1e-5;
  if (call.has(4)) {
    ANYNPU_ASSIGN(epsilon, call.real(call.argument(4), "eps"));
  }
  if (x < 0) return std::vector<ValueId>(call.output_count, OpGraph::kUnknown);
  if (weight == kNoValue) {
    ANYNPU_ASSIGN(const ValueId one, call.scalar(call.graph.value(x).dtype, 1));
    ANYNPU_ASSIGN(const ValueId dims, call.list(shape));
    ANYNPU_ASSIGN(weight, call.step("Fill", {dims, one}));
  }
  const auto first = -static_cast<int64_t>(shape.size());
  return call.add("LayerNorm", {x, weight, bias},
                  {{"begin_norm_axis", first},
                   {"begin_params_axis", first},
                   {"epsilon", static_cast<float>(epsilon)}});
}

}  // namespace anynpu::mindspore
