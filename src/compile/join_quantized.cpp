// SPDX-License-Identifier: Apache-2.0
// Operators between DequantizeLinear and QuantizeLinear become operators on bytes: products
// (QuantizedConv, QuantizedMatMul) with the activation and the addition behind them, operators that
// only move or compare elements, and functions of one tensor (quantized_tables.cpp). Only where a
// kernel is faster than the floats: the plan of other processors keeps the operators apart.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "compile/pattern.h"
#include "compile/plan_fusion.h"
#include "compile/quantized.h"
#include "graph/tensor_value.h"
#include "ops/activation.h"
#include "ops/quantize/requantize.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;
using ops::quantize::Requantize;

// Elements of the result are elements of the input: the same bytes stand for them.
constexpr std::array kMoves = {"Reshape",      "Flatten",  "Squeeze", "Unsqueeze",
                               "Transpose",    "MaxPool",  "Concat",  "Slice",
                               "DepthToSpace", "Identity", "Gather",  "SpaceToDepth"};

class QuantizedFuser {
 public:
  explicit QuantizedFuser(graph::Graph& graph) : graph_(graph), pattern_(graph) {}

  Status run() {
    return pattern_.sweep([this](const Node& node) {
      if (!node.domain.empty()) return false;
      if (node.op == "QuantizeLinear")
        return fuse_product(node) || fuse_sum(node) || move_bytes(node);
      return fuse_float_product(node);
    });
  }

 private:
  const Value& value(ValueId id) const { return pattern_.value(id); }
  ValueId input(const Node& node, size_t index) const {
    return index < node.inputs.size() ? node.inputs[index] : kNoValue;
  }
  std::optional<ByteScale> scale_of(const Node& node) const { return byte_scale(graph_, node); }
  // What the float `id` was as bytes.
  const Node* bytes_of(ValueId id) const {
    const Node* node = id == kNoValue ? nullptr : pattern_.made_by(id, "DequantizeLinear");
    return node && value(node->inputs[0]).dtype == DType::u8 && scale_of(*node) ? node : nullptr;
  }

  // Constant weights as signed bytes around 0, with one scale or one for each of `channels` along
  // `axis`.
  struct Weights {
    ValueId bytes = kNoValue;
    std::vector<float> scales;
  };
  std::optional<Weights> weights_of(ValueId id, int64_t axis) {
    const Node* node = id == kNoValue ? nullptr : pattern_.made_by(id, "DequantizeLinear");
    if (!node || !value(node->inputs[0]).constant || node->int_attr("block_size", 0) != 0)
      return std::nullopt;
    const Value& w = value(node->inputs[0]);
    const auto rank = static_cast<int64_t>(w.shape.size());
    Weights found;
    found.scales = constant_elements<float>(graph_, node->inputs[1]);
    const int64_t stated = node->int_attr("axis", 1);
    const bool along = (stated < 0 ? stated + rank : stated) == axis;
    if (found.scales.size() != 1 &&
        (!along || static_cast<int64_t>(found.scales.size()) != w.shape[static_cast<size_t>(axis)]))
      return std::nullopt;
    found.bytes = signed_bytes(node->inputs[0], input(*node, 2), axis);
    if (found.bytes == kNoValue) return std::nullopt;
    return found;
  }

  // The constant minus its zero points, or kNoValue where that needs more than a signed byte.
  ValueId signed_bytes(ValueId id, ValueId zeros, int64_t axis) {
    const Value& w = value(id);
    if (w.dtype != DType::i8 && w.dtype != DType::u8) return kNoValue;
    const auto bytes = w.constant->bytes;
    const auto at = [](DType type, std::span<const std::byte> from, size_t i) {
      const auto byte = static_cast<uint8_t>(from[i]);
      return type == DType::i8 ? int{static_cast<int8_t>(byte)} : int{byte};
    };
    std::vector<int> zero = {0};
    if (zeros != kNoValue) {
      const Value& z = value(zeros);
      if (!z.constant || z.dtype != w.dtype) return kNoValue;
      zero.assign(z.constant->bytes.size(), 0);
      for (size_t i = 0; i < zero.size(); ++i) zero[i] = at(z.dtype, z.constant->bytes, i);
    }
    const bool all_zero = std::all_of(zero.begin(), zero.end(), [](int v) { return v == 0; });
    if (all_zero && w.dtype == DType::i8) return id;
    const auto known = signed_.find(id);
    if (known != signed_.end()) return known->second;
    size_t inner = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < w.shape.size(); ++i)
      inner *= static_cast<size_t>(w.shape[i]);
    if (zero.size() != 1 && zero.size() != static_cast<size_t>(w.shape[static_cast<size_t>(axis)]))
      return kNoValue;
    std::vector<int8_t> moved(bytes.size());
    for (size_t i = 0; i < moved.size(); ++i) {
      const int v = at(w.dtype, bytes, i) - zero[zero.size() == 1 ? 0 : i / inner % zero.size()];
      if (v < -128 || v > 127) return kNoValue;
      moved[i] = static_cast<int8_t>(v);
    }
    Value fresh = graph::tensor_value(w.name + "/signed", DType::i8, w.shape);
    fresh.constant = graph::constant_of(std::move(moved));
    const ValueId made = pattern_.adopt(graph_.add_value(std::move(fresh)));
    signed_[id] = made;
    return made;
  }

  // The product without what follows it: QuantizedConv or QuantizedMatMul with results in floats.
  std::optional<Node> product_of(const Node& node) {
    const bool fused = node.domain == "anynpu";
    if ((!fused && !node.domain.empty()) || node.attrs.contains("steps")) return std::nullopt;
    const std::string op = fused && node.op.starts_with("Fused") ? node.op.substr(5) : node.op;
    if (op != "Conv" && op != "Gemm" && op != "MatMul") return std::nullopt;
    if (node.outputs.size() != 1 || input(node, 3) != kNoValue) return std::nullopt;
    const Node* x = bytes_of(node.inputs[0]);
    if (!x) return std::nullopt;
    Requantize requantize;
    requantize.x_scale = scale_of(*x)->scale, requantize.x_zero = scale_of(*x)->zero;
    Node made;
    made.domain = "anynpu", made.opset = 1, made.name = node.name;
    made.op = op == "Conv" ? "QuantizedConv" : "QuantizedMatMul";
    int64_t axis = 0, channels = 0;
    if (op == "Conv") {
      for (const char* key :
           {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}) {
        const auto found = node.attrs.find(key);
        if (found != node.attrs.end()) made.attrs.insert(*found);
      }
      channels = value(node.inputs[1]).shape[0];
    } else {
      const bool transposed = node.int_attr("transB", 0) != 0;
      if (node.int_attr("transA", 0) != 0 || node.float_attr("alpha", 1) != 1 ||
          (input(node, 2) != kNoValue && node.float_attr("beta", 1) != 1) ||
          value(node.inputs[1]).shape.size() != 2 || value(node.inputs[0]).shape.empty())
        return std::nullopt;
      made.attrs["transB"] = int64_t{transposed};
      axis = transposed ? 0 : 1;
      channels = value(node.inputs[1]).shape[static_cast<size_t>(axis)];
    }
    const auto weights = weights_of(node.inputs[1], axis);
    if (!weights) return std::nullopt;
    requantize.w_scales = weights->scales;
    made.inputs = {x->inputs[0], weights->bytes};
    if (const ValueId bias = input(node, 2); bias != kNoValue) {
      const ValueId row = bias_row(bias, channels);
      if (row == kNoValue) return std::nullopt;
      made.inputs.push_back(row);
    }
    requantize.write(made);
    return made;
  }

  // A constant of f32 with an element for each channel, as one axis.
  ValueId bias_row(ValueId id, int64_t channels) {
    const Value& bias = value(id);
    if (!bias.constant || bias.dtype != DType::f32 || element_count(bias.shape) != channels ||
        bias.shape.empty() || bias.shape.back() != channels)
      return kNoValue;
    if (bias.shape.size() == 1) return id;
    Value flat = bias;
    flat.shape = {channels};
    flat.name += "/row";
    return pattern_.adopt(graph_.add_value(std::move(flat)));
  }

  // Bounds of the result as bytes, with an activation in front of the rounding.
  static void bound(const Node& product, const ByteScale& y, Requantize& r) {
    r.y_scale = y.scale, r.y_zero = y.zero;
    const std::string activation = product.string_attr("activation", "");
    if (activation == "Relu") r.y_low = std::max(r.y_low, y.zero);
    if (activation != "Clip") return;
    const auto byte = [&](float v) {
      return std::clamp(std::nearbyint(v / y.scale) + static_cast<float>(y.zero), 0.0f, 255.0f);
    };
    const float low = product.float_attr("activation_min", -3e38f);
    const float high = product.float_attr("activation_max", 3e38f);
    r.y_low = std::max(r.y_low, static_cast<int32_t>(byte(low)));
    r.y_high = std::min(r.y_high, static_cast<int32_t>(byte(high)));
  }

  // Whether a kernel other than the plain loops takes the node.
  bool is_fast(const Node& node) const {
    const auto context = ops::infer(graph_, node);
    if (!context.ok()) return false;
    const auto chosen = ops::choose_kernel(*context);
    return chosen.ok() && (*chosen)->name != "reference";
  }

  bool put(ValueId output, Node node) {
    node.outputs = {output};
    if (!is_fast(node)) return false;
    pattern_.absorb(output, std::move(node));
    return true;
  }

  // The operator in front of a Relu, or of nothing.
  const Node* behind_relu(ValueId id, bool& relu) const {
    const Node* node = pattern_.absorbed(id);
    relu = node && node->op == "Relu" && node->domain.empty();
    return relu ? pattern_.absorbed(node->inputs[0]) : node;
  }

  bool fuse_product(const Node& quantize) {
    const auto y = result_scale(quantize);
    if (!y) return false;
    bool relu = false;
    const Node* node = behind_relu(quantize.inputs[0], relu);
    if (!node) return false;
    auto made = product_of(*node);
    if (!made) return false;
    Requantize r = requantize_of(*made);
    bound(*node, *y, r);
    if (relu) r.y_low = std::max(r.y_low, y->zero);
    r.write(*made);
    return put(quantize.outputs[0], std::move(*made));
  }

  // The result as bytes is added to other bytes: the product rounds, adds and rounds once more.
  bool fuse_sum(const Node& quantize) {
    const auto y = result_scale(quantize);
    if (!y) return false;
    bool relu = false;
    const Node* add = behind_relu(quantize.inputs[0], relu);
    if (!add || add->op != "Add" || !add->domain.empty()) return false;
    const Shape& shape = value(quantize.outputs[0]).shape;
    for (size_t side = 0; side < 2; ++side) {
      const Node* mine = bytes_of(add->inputs[side]);
      const Node* other = bytes_of(add->inputs[1 - side]);
      if (!mine || !other || mine == other || pattern_.uses(mine->outputs[0]) != 1 ||
          value(other->inputs[0]).shape != shape)
        continue;
      const Node* product = pattern_.absorbed(mine->inputs[0]);
      if (!product || product->domain != "anynpu" ||
          (product->op != "QuantizedConv" && product->op != "QuantizedMatMul") ||
          input(*product, 3) != kNoValue || value(product->outputs[0]).shape != shape)
        continue;
      Requantize r = requantize_of(*product);
      const ByteScale first = *scale_of(*mine), z = *scale_of(*other);
      if (r.y_scale != first.scale || r.y_zero != first.zero) continue;
      r.first_scale = r.y_scale, r.first_zero = r.y_zero;
      r.first_low = r.y_low, r.first_high = r.y_high;
      r.z_scale = z.scale, r.z_zero = z.zero;
      r.y_scale = y->scale, r.y_zero = y->zero;
      r.y_low = relu ? y->zero : 0, r.y_high = 255;
      Node fused = *product;
      fused.inputs.resize(4, kNoValue);
      fused.inputs[3] = other->inputs[0];
      r.write(fused);
      if (put(quantize.outputs[0], std::move(fused))) return true;
    }
    return false;
  }

  // Operators that only move elements, between tensors of one scale.
  bool move_bytes(const Node& quantize) {
    const auto y = result_scale(quantize);
    const Node* node = y ? pattern_.absorbed(quantize.inputs[0]) : nullptr;
    if (!node || !node->domain.empty() || node->outputs.size() != 1 ||
        std::find(kMoves.begin(), kMoves.end(), node->op) == kMoves.end())
      return false;
    const size_t data = node->op == "Concat" ? node->inputs.size() : 1;
    Node moved = *node;
    for (size_t i = 0; i < data; ++i) {
      const Node* x = bytes_of(node->inputs[i]);
      if (!x || !(*scale_of(*x) == *y)) return false;
      moved.inputs[i] = x->inputs[0];
    }
    moved.outputs = {quantize.outputs[0]};
    const auto context = ops::infer(graph_, moved);
    if (!context.ok() || !ops::choose_kernel(*context).ok()) return false;
    pattern_.absorb(quantize.outputs[0], std::move(moved));
    return true;
  }

  // A product of bytes whose result stays in floats.
  bool fuse_float_product(const Node& node) {
    if (node.outputs.size() != 1 || value(node.outputs[0]).dtype != DType::f32) return false;
    if (const int user = pattern_.only_user(node.outputs[0]); user >= 0) {
      const Node& next = graph_.nodes[static_cast<size_t>(user)];
      if (next.op == "QuantizeLinear" || next.op == "Relu") return false;
    }
    auto made = product_of(node);
    return made && put(node.outputs[0], std::move(*made));
  }

  std::optional<ByteScale> result_scale(const Node& quantize) const {
    if (value(quantize.outputs[0]).dtype != DType::u8 || !pattern_.is_f32(quantize.inputs[0]))
      return std::nullopt;
    return scale_of(quantize);
  }

  static Requantize requantize_of(const Node& node) {
    static const std::vector<ops::AttrSchema> attrs = ops::quantize::requantize_attributes();
    static const ops::OpSchema schema{.name = "Quantized", .attrs = attrs};
    ops::OpContext context;
    context.node = &node, context.schema = &schema;
    const auto scales = std::get<std::vector<float>>(node.attrs.at("w_scales"));
    return *Requantize::of(context, static_cast<int64_t>(scales.size()));
  }

  graph::Graph& graph_;
  Pattern pattern_;
  std::map<ValueId, ValueId> signed_;  // weights that were moved to around 0
};

}  // namespace

Status join_quantized(graph::Graph& graph) {
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.op == "DequantizeLinear" && node.domain.empty();
  });
  if (!any) return {};
  make_bytes_unsigned(graph);
  ANYNPU_TRY(join_tables(graph));
  return QuantizedFuser(graph).run();
}

}  // namespace anynpu::compile
