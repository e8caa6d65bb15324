// SPDX-License-Identifier: Apache-2.0
// SpaceToBatchND and BatchToSpaceND. TensorFlow 1 writes a convolution with dilations as these two
// around one without: here it is one convolution again.
#include <algorithm>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

// [n, s..., rest] -> [n * blocks, s / block..., rest], in the order of the model.
static ValueId space_to_batch(Builder& b, ValueId x, const Ints& block, const Ints& paddings) {
  const size_t m = block.size();
  const auto rank = static_cast<size_t>(b.rank(x));
  Ints pads(rank * 2, 0);
  for (size_t i = 0; i < m; ++i) {
    pads[i + 1] = paddings[i * 2];
    pads[rank + i + 1] = paddings[i * 2 + 1];
  }
  if (std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; }))
    x = b.node("Pad", 18, {x, b.list(pads)});
  if (!b.need_fixed(x, "the tensor")) return kNoValue;
  const Shape s = b.shape(x);
  Ints split = {s[0]}, order, out = {s[0]};
  for (size_t i = 0; i < m; ++i) {
    if (block[i] < 1 || s[i + 1] % block[i] != 0) {
      b.refuse(Code::shape_mismatch, "an axis of {} elements is no multiple of the block {}",
               s[i + 1], block[i]);
      return kNoValue;
    }
    split.push_back(s[i + 1] / block[i]);
    split.push_back(block[i]);
    out[0] *= block[i];
    out.push_back(s[i + 1] / block[i]);
  }
  for (size_t i = m + 1; i < rank; ++i) {
    split.push_back(s[i]);
    out.push_back(s[i]);
  }
  for (size_t i = 0; i < m; ++i) order.push_back(static_cast<int64_t>(2 + i * 2));
  order.push_back(0);
  for (size_t i = 0; i < m; ++i) order.push_back(static_cast<int64_t>(1 + i * 2));
  for (size_t i = 2 * m + 1; i < split.size(); ++i) order.push_back(static_cast<int64_t>(i));
  return b.reshape(b.transpose(b.reshape(x, split), order), out);
}

static ValueId batch_to_space(Builder& b, ValueId x, const Ints& block, const Ints& crops) {
  const size_t m = block.size();
  if (!b.need_fixed(x, "the tensor")) return kNoValue;
  const auto rank = static_cast<size_t>(b.rank(x));
  const Shape s = b.shape(x);
  int64_t blocks = 1;
  for (int64_t one : block) blocks *= std::max<int64_t>(one, 1);
  if (s[0] % blocks != 0) {
    b.refuse(Code::shape_mismatch, "a batch of {} is no multiple of {} blocks", s[0], blocks);
    return kNoValue;
  }
  Ints split(block.begin(), block.end()), order = {static_cast<int64_t>(m)}, out = {s[0] / blocks};
  split.push_back(s[0] / blocks);
  for (size_t i = 1; i < rank; ++i) split.push_back(s[i]);
  for (size_t i = 0; i < m; ++i) {
    order.push_back(static_cast<int64_t>(m + 1 + i));
    order.push_back(static_cast<int64_t>(i));
    out.push_back(s[i + 1] * block[i]);
  }
  for (size_t i = m + 1; i < rank; ++i) {
    order.push_back(static_cast<int64_t>(m + i));
    out.push_back(s[i]);
  }
  ValueId y = b.reshape(b.transpose(b.reshape(x, split), order), out);
  Ints from, to, axes;
  for (size_t i = 0; i < m; ++i) {
    if (crops[i * 2] == 0 && crops[i * 2 + 1] == 0) continue;
    axes.push_back(static_cast<int64_t>(i) + 1);
    from.push_back(crops[i * 2]);
    to.push_back(out[i + 1] - crops[i * 2 + 1]);
  }
  if (!axes.empty()) y = b.node("Slice", 13, {y, b.list(from), b.list(to), b.list(axes)});
  return y;
}

// Block and paddings as inputs, or the one block size of the older operators.
static bool read_blocks(Builder& b, Ints& block, Ints& rows) {
  if (b.has_attr("block_size")) {
    block.assign(2, b.i("block_size", 2));
    rows = b.in_values(1);
  } else {
    block = b.in_values(1);
    rows = b.in_values(2);
  }
  if (!b.ok()) return false;
  if (rows.size() == block.size() * 2 && !block.empty()) return true;
  b.refuse(Code::shape_mismatch, "block has {} entries, paddings or crops {}", block.size(),
           rows.size());
  return false;
}

void lower_space_to_batch(Builder& b) {
  Ints block, paddings;
  if (!read_blocks(b, block, paddings)) return;
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the tensor", static_cast<int64_t>(block.size()) + 1)) return;
  const ValueId y = space_to_batch(b, x, block, paddings);
  b.out(0, y);
  if (b.ok() && block.size() == 2 && b.rank(y) == 4) b.note_blocks(y, {x, block, paddings});
}

void lower_batch_to_space(Builder& b) {
  Ints block, crops;
  if (!read_blocks(b, block, crops)) return;
  // Conv(SpaceToBatch(x)) without padding and strides, by the same blocks.
  if (b.is_first(0) && block.size() == 2) {
    const graph::Node* conv = b.maker(b.in_first(0));
    const Builder::Blocks* from =
        conv && conv->op == "Conv" ? b.blocks_of(conv->inputs[0]) : nullptr;
    if (from && from->block == block && conv->ints_attr("strides", {1, 1}) == Ints{1, 1} &&
        conv->ints_attr("dilations", {1, 1}) == Ints{1, 1} && !conv->attrs.contains("auto_pad") &&
        conv->ints_attr("pads", {0, 0, 0, 0}) == Ints{0, 0, 0, 0}) {
      Ints pads = {from->paddings[0] - crops[0], from->paddings[2] - crops[2],
                   from->paddings[1] - crops[1], from->paddings[3] - crops[3]};
      if (std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p >= 0; })) {
        NodeAttrs attrs = conv->attrs;
        attrs["pads"] = pads;
        attrs["dilations"] = block;
        std::vector<ValueId> inputs = conv->inputs;
        inputs[0] = b.first_of(from->source);
        return b.out_first(0, b.node("Conv", 11, inputs, attrs));
      }
    }
  }
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the tensor", static_cast<int64_t>(block.size()) + 1)) return;
  b.out(0, batch_to_space(b, x, block, crops));
}

}  // namespace anynpu::tensorflow
