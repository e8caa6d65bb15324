// SPDX-License-Identifier: Apache-2.0
// Losses, steps of training, random numbers, windows of signals, quantisation, and other operators
// that stand alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

ValueId sum_over(Builder& b, ValueId x, int64_t axis, int64_t keep) {
  return b.node("ReduceSum", 13, {x, b.list({axis})}, {{"keepdims", keep}});
}

}  // namespace

void lower_hard_max(Builder& b) {
  b.out(0, b.node("Hardmax", 13, {b.in(0)}, {{"axis", b.i("axis", -1)}}));
}

void lower_determinant(Builder& b) { b.out(0, b.node("Det", 22, {b.in(0)})); }

void lower_reverse_sequence(Builder& b) {
  b.out(0, b.node("ReverseSequence", 10, {b.in(0), b.index(b.in(1))},
                  {{"time_axis", b.i("seq_dim")}, {"batch_axis", b.i("batch_dim", 0)}}));
}

void lower_shift(Builder& b) {
  const ValueId x = b.in(0), by = b.in(1);
  b.index(by);
  if (!b.ok()) return;
  const std::string direction = b.type() == "LeftShift" ? "LEFT" : "RIGHT";
  b.out(0, b.node("BitShift", 11, {x, b.cast(by, b.dtype(x))}, {{"direction", direction}}));
}

void lower_mvn(Builder& b) {
  const ValueId x = b.in_nchw(0);
  if (!b.ok()) return;
  std::vector<int64_t> axes = {2, 3};
  if (b.type() == "MVNV2") {
    axes = b.ints("axes", {0, 2, 3});
  } else if (b.flag("across_channels", false)) {
    axes = {1, 2, 3};
  }
  const ValueId list = b.list(b.axes(std::move(axes), x));
  const auto mean = [&](ValueId v) {
    return b.node("ReduceMean", 18, {v, list}, {{"keepdims", int64_t{1}}});
  };
  const ValueId away = sub(b, x, mean(x));
  if (!b.flag("normalize_variance", true)) return b.out_nchw(0, away);
  const ValueId deviation = b.node("Sqrt", 13, {mean(mul(b, away, away))});
  const ValueId least = b.scalar(b.dtype(x), b.f("eps", 1e-9f));
  b.out_nchw(0, div(b, away, add(b, deviation, least)));
}

// x, target, weight -> loss and the sum of the weights that counted.
void lower_nll_loss(Builder& b) {
  const std::string reduction = b.s("reduction", "mean");
  const ValueId x = b.in(0), target = b.in(1), weight = b.in_or_none(2);
  if (!b.ok()) return;
  const int64_t ignored = b.i("ignore_index", -100);
  b.out(0, b.node("NegativeLogLikelihoodLoss", 13, {x, target, weight},
                  {{"reduction", reduction}, {"ignore_index", ignored}}));
  if (b.output_count() < 2) return;
  const ValueId counted =
      b.cast(b.node("Not", 1, {b.node("Equal", 13, {target, b.whole(b.dtype(target), ignored)})}),
             b.dtype(x));
  ValueId each = counted;
  if (weight != kNoValue) {
    const ValueId zero = b.scalar(b.dtype(target), 0);
    const ValueId safe = b.node("Max", 13, {target, zero});
    each = mul(b, counted, b.node("Gather", 13, {weight, safe}));
  }
  b.out(1, b.node("ReduceSum", 13, {each}, {{"keepdims", int64_t{0}}}), Type::any);
}

void lower_softmax_loss(Builder& b) {
  const auto made = b.nodes(
      "SoftmaxCrossEntropyLoss", 13, {b.in(0), b.in(1), b.in_or_none(2)}, 2,
      {{"reduction", b.s("reduction", "mean")}, {"ignore_index", b.i("ignore_index", -100)}});
  b.out(0, made[0]);
  if (b.output_count() > 1) b.out(1, made[1]);
}

// features, labels (shares, or the class itself in the sparse form) -> loss, softmax - labels.
void lower_softmax_with_logits(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the scores", 1)) return;
  const DType type = b.dtype(x);
  ValueId labels = b.in(1);
  if (b.type().starts_with("Sparse")) {
    labels = b.index(labels);
    if (!b.has_rank(labels, "the labels", b.rank(x) - 1, b.rank(x) - 1)) return;
    const ValueId depth = b.list({b.shape(x).back()});
    const ValueId values = b.node("Concat", 13, {b.filled(type, {1}, 0), b.filled(type, {1}, 1)},
                                  {{"axis", int64_t{0}}});
    labels = b.node("OneHot", 11, {labels, depth, values}, {{"axis", int64_t{-1}}});
  }
  const ValueId logs = b.node("LogSoftmax", 13, {x}, {{"axis", int64_t{-1}}});
  // A class that is not meant counts nothing, also where its probability is 0 and the log infinite.
  const ValueId zero = b.scalar(type, 0);
  const ValueId parts =
      b.node("Where", 9, {b.node("Equal", 13, {labels, zero}), zero, mul(b, labels, logs)});
  b.out(0, b.node("Neg", 13, {sum_over(b, parts, -1, 0)}));
  if (b.output_count() < 2) return;
  b.out(1, sub(b, b.node("Softmax", 13, {x}, {{"axis", int64_t{-1}}}), labels));
}

// Windows of signals: their length is an input.
void lower_window(Builder& b) {
  const auto length = b.in_values(0);
  if (!b.ok() || length.size() != 1)
    return b.refuse(Code::invalid_argument, "the length has {} numbers, expected 1", length.size());
  const auto found = b.op().attrs.find("periodic");
  const bool* word = found == b.op().attrs.end() ? nullptr : std::get_if<bool>(&found->second);
  const bool periodic = word ? *word : b.i_between("periodic", 1, 0, 1) != 0;
  const float alpha = b.f("alpha", 0.54f), beta = b.f("beta", 0.46f);
  if (b.has_attr("alpha") || b.has_attr("beta")) {
    // With shares of its own, not ONNX's 25/46 and 21/46: alpha - beta * cos(2 pi i / n).
    const int64_t count = length[0];
    if (count < 0 || count > 1 << 24)
      return b.refuse(Code::invalid_argument, "the length is {}", count);
    const auto turn = static_cast<double>(std::max<int64_t>(1, periodic ? count : count - 1));
    std::vector<float> parts;
    for (int64_t i = 0; i < count; ++i) {
      const double wave = std::cos(2 * M_PI * static_cast<double>(i) / turn);
      parts.push_back(static_cast<float>(count == 1 ? 1.0 : double{alpha} - double{beta} * wave));
    }
    return b.out(0, b.table({count}, parts), Type::any);
  }
  b.out(0,
        b.node(b.type().c_str(), 17, {b.reshape(b.list(length), {})},
               {{"periodic", int64_t{periodic}}, {"output_datatype", int64_t{1}}}),
        Type::any);
}

// 0, rising to 1 in the middle, falling to 0.
void lower_bartlett_window(Builder& b) {
  const auto length = b.in_values(0);
  const bool periodic = b.flag("periodic", true);
  if (!b.ok() || length.size() != 1 || length[0] < 0 || length[0] > 1 << 24)
    return b.refuse(Code::invalid_argument,
                    "the length has {} numbers, expected one from 0 to 2^24", length.size());
  const auto turn = static_cast<double>(std::max<int64_t>(1, periodic ? length[0] : length[0] - 1));
  std::vector<float> parts;
  for (int64_t i = 0; i < length[0]; ++i) {
    const double rise = length[0] == 1 ? 1 : 1 - std::abs(2 * static_cast<double>(i) / turn - 1);
    parts.push_back(static_cast<float>(rise));
  }
  b.out(0, b.table({length[0]}, parts), Type::any);
}

void lower_eye(Builder& b) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  b.i("num_rows");  // required
  const int64_t rows = b.i_between("num_rows", 1, 1, kMost),
                given = b.i_between("num_columns", 0, 0, kMost);
  const int64_t columns = given > 0 ? given : rows;
  const DType type = b.dtype_attr("dtype", DType::i32);
  const ValueId zeros = b.node("Expand", 13, {b.scalar(type, 0), b.list({rows, columns})});
  const ValueId one = b.node("EyeLike", 9, {zeros}, {{"k", int64_t{0}}});
  std::vector<int64_t> shape = b.ints("batch_shape", {});
  if (shape.empty()) return b.out(0, one);
  shape.insert(shape.end(), {rows, columns});
  b.out(0, b.node("Expand", 13, {one, b.list(shape)}));
}

// The elements of x where mask is true, in a row.
void lower_masked_select(Builder& b) {
  const ValueId x = b.in(0), mask = b.in(1);
  const ValueId shape = b.node("Shape", 13, {mask});
  const ValueId spread = b.node("Expand", 13, {x, shape});
  const ValueId whole = b.node("Expand", 13, {mask, b.node("Shape", 13, {spread})});
  b.out(0, b.node("Compress", 11, {b.reshape(spread, {-1}), b.reshape(whole, {-1})}));
}

void lower_masked_fill(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const ValueId value = b.cast(b.in(2), b.dtype(x));
  if (!b.has_type(b.in(1), "the mask", {DType::boolean, DType::i8, DType::u8})) return;
  b.out(0, b.node("Where", 9, {b.cast(b.in(1), DType::boolean), value, x}));
}

void lower_random(Builder& b) {
  const std::vector<int64_t> shape = b.in_values(0);
  const DType type = b.output_count() > 0 ? b.op().outputs[0].dtype : DType::f32;
  NodeAttrs attrs{{"shape", shape}, {"dtype", int64_t{type == DType::f16 ? 10 : 1}}};
  // 0 and 0 ask for a seed of the system's choice.
  const int64_t seed = b.i("seed", 0) ^ b.i("seed2", 0) << 16;
  if (seed != 0) attrs["seed"] = static_cast<float>(seed);
  const bool uniform = b.type() == "RandomUniform";
  b.out(0, b.node(uniform ? "RandomUniform" : "RandomNormal", 1, {}, std::move(attrs)));
}

void lower_multinomial(Builder& b) {
  const std::vector<int64_t> count = b.in_values(1);
  if (!b.ok() || count.size() != 1)
    return b.refuse(Code::invalid_argument, "num_samples has {} numbers, expected 1", count.size());
  const DType type = b.output_count() > 0 ? b.op().outputs[0].dtype : DType::i32;
  NodeAttrs attrs{{"sample_size", count[0]}, {"dtype", int64_t{type == DType::i64 ? 7 : 6}}};
  const int64_t seed = b.i("seed", 0) ^ b.i("seed2", 0) << 16;
  if (seed != 0) attrs["seed"] = static_cast<float>(seed);
  b.out(0, b.node("Multinomial", 7, {b.in(0)}, std::move(attrs)));
}

// x, scales, zero points; the type is named as PyTorch has it.
void lower_quantize(Builder& b) {
  const std::string word = b.s("dtype", "torch.qint8");
  const DType type = word == "torch.quint8" ? DType::u8 : DType::i8;
  if (word != "torch.quint8" && word != "torch.qint8")
    return b.refuse(Code::unsupported_dtype, "dtype is '{}', expected torch.qint8 or torch.quint8",
                    word);
  const ValueId zero = b.has(2) ? b.cast(b.index(b.in(2)), type) : kNoValue;
  const ValueId scale = b.in(1);
  if (!b.ok()) return;
  if (zero != kNoValue && !b.has_count(zero, "the zero points", element_count(b.shape(scale))))
    return;
  const ValueId point = zero == kNoValue ? b.filled(type, b.shape(scale), 0) : zero;
  b.out(0, b.node("QuantizeLinear", 13, {b.in(0), scale, point}, {{"axis", b.i("axis", 1)}}));
}

// int8 to floats: (x + offset) * scale.
void lower_anti_quant(Builder& b) {
  const DType described = b.op().outputs[0].dtype;
  const DType type = described == DType::undefined ? DType::f16 : described;
  if (!b.has_type(b.in(0), "x", {DType::i8})) return;
  float scale = b.f("scale");
  if (b.flag("sqrt_mode", false)) scale *= scale;
  const ValueId moved = add(b, b.cast(b.in(0), DType::f32), b.scalar(DType::f32, b.f("offset")));
  b.out(0, b.cast(mul(b, moved, b.scalar(DType::f32, scale)), type));
}

// x and a mask of 0 and 1, kept elements divided by the share that is kept. The first form has the
// mask as bits, eight to a byte from the lowest on.
void lower_dropout_mask(Builder& b) {
  const ValueId x = b.in(0);
  ValueId mask = b.in(1);
  if (!b.ok()) return;
  if (b.type() == "DropOutDoMask") {
    const int64_t count = element_count(b.shape(x)), given = element_count(b.shape(mask));
    if (b.dtype(mask) != DType::u8 || count < 0 || given * 8 < count)
      return b.refuse(
          Code::invalid_argument,
          "the mask is {} bytes of {} for {} elements, expected uint8 and a bit for each", given,
          name_of(b.dtype(mask)), count);
    std::vector<ValueId> by;
    for (int bit = 0; bit < 8; ++bit) by.push_back(b.filled(DType::u8, {1}, bit));
    const ValueId row = b.node("Concat", 13, by, {{"axis", int64_t{0}}});
    const ValueId bits = b.node("BitShift", 11, {b.reshape(mask, {-1, 1}), row},
                                {{"direction", std::string("RIGHT")}});
    const ValueId lowest = b.node("BitwiseAnd", 18, {bits, b.filled(DType::u8, {1}, 1)});
    mask = b.node("Slice", 13, {b.reshape(lowest, {-1}), b.list({0}), b.list({count})});
    mask = b.reshape(mask, b.shape(x));
  }
  if (!b.has_type(mask, "the mask", {DType::u8, DType::boolean})) return;
  const ValueId share = b.reshape(b.in(2), {1});  // one number, spread over what it meets
  b.out(0, div(b, mul(b, x, b.cast(mask, b.dtype(x))), b.cast(share, b.dtype(x))));
}

// x with elements left out at random, the mask, and the state of the random numbers, which is
// passed on: our numbers do not come from it.
void lower_dropout_v2(Builder& b) {
  const ValueId x = b.in(0), seed = b.in(1);
  const float p = b.f("p");
  if (!b.ok()) return;
  if (!(p >= 0 && p < 1))
    return b.refuse(Code::invalid_argument, "p is {}, expected 0 to less than 1", p);
  const auto made =
      b.nodes("Dropout", 13, {x, b.scalar(DType::f32, p), b.filled(DType::boolean, {}, 1)}, 2);
  b.out(0, made[0]);
  if (b.output_count() > 1) b.out(1, b.cast(made[1], DType::f32), Type::any);
  if (b.output_count() > 2) b.out(2, b.node("Identity", 13, {seed}));
}

// Products, sums or maxima of several tensors, each with a factor.
void lower_eltwise(Builder& b) {
  const int64_t mode = b.i("mode", 1);
  const std::vector<float> factors = b.floats("coeff");
  if (mode < 0 || mode > 2 || (!factors.empty() && factors.size() != b.input_count()))
    return b.refuse(Code::invalid_argument,
                    "mode is {} with {} factors for {} inputs, expected 0 to 2 and one for each",
                    mode, factors.size(), b.input_count());
  ValueId y = kNoValue;
  for (size_t i = 0; i < b.input_count(); ++i) {
    ValueId x = b.in(i);
    if (!b.ok()) return;
    if (mode == 1 && !factors.empty() && factors[i] != 1)
      x = mul(b, x, b.scalar(b.dtype(x), factors[i]));
    y = i == 0      ? x
        : mode == 0 ? mul(b, y, x)
        : mode == 1 ? add(b, y, x)
                    : b.node("Max", 13, {y, x});
  }
  b.out(0, y);
}

void lower_global_lp_pool(Builder& b) {
  b.out_nchw(0,
             b.node("GlobalLpPool", 2, {b.in_nchw(0)}, {{"p", static_cast<int64_t>(b.f("p", 2))}}));
}

void lower_dft(Builder& b) {
  const ValueId length = b.has(1) ? b.index(b.in(1)) : kNoValue;
  b.out(0, b.node("DFT", 17, {b.in(0), length},
                  {{"axis", b.i("axis", 1)},
                   {"inverse", b.i("inverse", 0)},
                   {"onesided", b.i("onesided", 0)}}));
}

// Channel shuffle: [g, c / g] becomes [c / g, g].
void lower_shuffle_channel(Builder& b) {
  const ValueId x = b.in_nchw(0);
  if (!b.ok()) return;
  const Shape s = b.shape(x);
  const int64_t group = b.i("group", 1);
  if (s.size() < 2 || group < 1 || s[1] % group != 0)
    return b.refuse(Code::unsupported_shape, "x has the shape {}, expected channels in {} groups",
                    to_string(s), group);
  const ValueId parts = b.reshape(x, {s[0], group, s[1] / group, -1});
  b.out_nchw(0, b.reshape(b.transpose(parts, {0, 2, 1, 3}), s));
}

}  // namespace anynpu::singleop
