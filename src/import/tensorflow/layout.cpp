// SPDX-License-Identifier: Apache-2.0
// Pictures with channels first: see builder.h.
#include <algorithm>
#include <cstring>

#include "base/mapped_file.h"
#include "base/text.h"
#include "graph/tensor_value.h"
#include "import/tensorflow/builder.h"

namespace anynpu::tensorflow {

namespace {

bool is_identity_order(const Ints& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

template <size_t kWidth>
void permute_elements(const std::byte* from, std::byte* to, const Shape& target,
                      const std::vector<int64_t>& steps) {
  const size_t rank = target.size();
  const int64_t inner = target[rank - 1], step = steps[rank - 1] * static_cast<int64_t>(kWidth);
  Shape at(rank, 0);
  const int64_t rows = element_count(target) / std::max<int64_t>(1, inner);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t begin = 0;
    for (size_t d = 0; d + 1 < rank; ++d) begin += at[d] * steps[d];
    const std::byte* source = from + begin * static_cast<int64_t>(kWidth);
    for (int64_t i = 0; i < inner; ++i, source += step, to += kWidth)
      std::memcpy(to, source, kWidth);
    for (size_t d = rank - 1; d-- > 0;) {
      if (++at[d] < target[d]) break;
      at[d] = 0;
    }
  }
}

// A constant in the order of its permuted axes: the one copy that a filter needs.
std::shared_ptr<const graph::Constant> permuted_constant(const graph::Constant& constant,
                                                         const Shape& shape, const Ints& order,
                                                         size_t width) {
  const std::vector<int64_t> strides = strides_of(shape);
  Shape target;
  std::vector<int64_t> steps;
  for (int64_t axis : order) {
    target.push_back(shape[static_cast<size_t>(axis)]);
    steps.push_back(strides[static_cast<size_t>(axis)]);
  }
  std::vector<std::byte> bytes(constant.bytes.size());
  if (bytes.empty()) return graph::constant_of(std::move(bytes));
  const auto run = [&](auto permute) {
    permute(constant.bytes.data(), bytes.data(), target, steps);
  };
  if (width == 1) run(permute_elements<1>);
  if (width == 2) run(permute_elements<2>);
  if (width == 4) run(permute_elements<4>);
  if (width == 8) run(permute_elements<8>);
  if (width == 16) run(permute_elements<16>);
  return graph::constant_of(std::move(bytes));
}

}  // namespace

Ints to_first_order(size_t rank) {
  Ints order = {0, static_cast<int64_t>(rank) - 1};
  for (size_t i = 1; i + 1 < rank; ++i) order.push_back(static_cast<int64_t>(i));
  return order;
}

Ints to_last_order(size_t rank) {
  Ints order = {0};
  for (size_t i = 2; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
  order.push_back(1);
  return order;
}

Ints first_list(const Ints& list) {
  Ints moved;
  for (int64_t axis : to_first_order(list.size())) moved.push_back(list[static_cast<size_t>(axis)]);
  return moved;
}

ValueId Builder::transpose(ValueId id, const Ints& order) {
  if (!ok() || is_identity_order(order)) return id;
  const size_t width = size_of(dtype(id));
  if (is_constant(id) && order.size() == shape(id).size() && bits_of(dtype(id)) % 8 == 0 &&
      (width == 1 || width == 2 || width == 4 || width == 8 || width == 16)) {
    Shape target;
    for (int64_t axis : order) target.push_back(shape(id)[static_cast<size_t>(axis)]);
    auto data = permuted_constant(*value(id).constant, shape(id), order, width);
    if (model_.file) model_.file->release(value(id).constant->bytes);
    return constant(dtype(id), std::move(target), std::move(data));
  }
  return node("Transpose", 13, {id}, {{"perm", order}});
}

bool Builder::is_first(size_t index) const {
  return index < inputs_.size() && inputs_[index].made_first;
}

ValueId Builder::in_first(size_t index) {
  if (!ok()) return kNoValue;
  if (index < inputs_.size() && inputs_[index].first != kNoValue) return inputs_[index].first;
  const ValueId plain = in(index);
  if (!ok()) return kNoValue;
  return inputs_[index].first = first_of(plain);
}

ValueId Builder::first_of(ValueId plain) {
  if (!has_rank(plain, "a picture", 3, 5)) return kNoValue;
  const auto known = to_first_.find(plain);
  if (known != to_first_.end()) return known->second;
  const ValueId made = transpose(plain, to_first_order(static_cast<size_t>(rank(plain))));
  if (ok()) to_first_[plain] = made;
  if (ok()) to_last_[made] = plain;
  return made;
}

const Builder::Blocks* Builder::blocks_of(ValueId first) const {
  for (const auto& [plain, blocks] : blocks_) {
    const auto made = to_first_.find(plain);
    if (plain == first || (made != to_first_.end() && made->second == first)) return &blocks;
  }
  return nullptr;
}

void Builder::out_first(size_t index, ValueId value) {
  if (!ok() || value == kNoValue) return;
  // Without its number of axes there is no way back to the order of the model.
  if (!has_rank(value, "the result", 1)) return;
  if (rank(value) < 3) return out(index, value);
  Tensor made;
  made.first = value;
  made.made_first = true;
  out(index, made);
}

bool Builder::channels_last() {
  const std::string format =
      word("data_format", "NHWC",
           {"NHWC", "NCHW", "NDHWC", "NCDHW", "NWC", "NCW", "CHANNELS_LAST", "CHANNELS_FIRST", ""});
  return format.empty() || format.back() == 'C' || format == "CHANNELS_LAST";
}

ValueId Builder::to_first(ValueId id, size_t rank) {
  if (!ok() || element_count(shape(id)) == 1) return id;
  const auto own = static_cast<size_t>(this->rank(id));
  ValueId wide = id;
  if (own < rank) {
    Shape to(rank - own, 1);
    to.insert(to.end(), shape(id).begin(), shape(id).end());
    if (is_static(to)) {
      wide = reshape(id, to);
    } else {
      Ints axes;
      for (size_t i = 0; i < rank - own; ++i) axes.push_back(static_cast<int64_t>(i));
      wide = unsqueeze(id, axes);
    }
  }
  // Only the last axis counts: no element moves.
  const Shape& s = shape(wide);
  if (std::all_of(s.begin(), s.end() - 1, [](int64_t extent) { return extent == 1; }) &&
      s.back() >= 0) {
    Ints to(rank, 1);
    to[1] = s.back();
    return s.back() == 0 ? transpose(wide, to_first_order(rank)) : reshape(wide, to);
  }
  return transpose(wide, to_first_order(rank));
}

Builder::Aligned Builder::aligned() {
  Aligned result;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!is_first(i)) continue;
    result.first = true;
    result.rank = std::max(result.rank, static_cast<size_t>(rank(inputs_[i].first)));
  }
  // Each input fits: made so, or of no more axes.
  for (size_t i = 0; i < inputs_.size() && result.first; ++i) {
    if (is_first(i)) {
      result.first = static_cast<size_t>(rank(inputs_[i].first)) == result.rank;
    } else {
      const ValueId id = inputs_[i].plain;
      result.first = has_shape(id) && static_cast<size_t>(rank(id)) <= result.rank;
    }
  }
  // A tensor that is there in both orders goes with one that is there in the model's alone.
  bool both = true, plain_beside = false;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (is_first(i)) both = both && to_last_.contains(inputs_[i].first);
    plain_beside = plain_beside || (!is_first(i) && inputs_[i].plain != kNoValue &&
                                    !is_constant(inputs_[i].plain) && rank(inputs_[i].plain) > 1);
  }
  if (both && plain_beside) result.first = false;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!result.first) {
      result.ids.push_back(in(i));
    } else if (inputs_[i].first != kNoValue ||
               static_cast<size_t>(rank(inputs_[i].plain)) == result.rank) {
      const bool one = inputs_[i].first == kNoValue && element_count(shape(inputs_[i].plain)) == 1;
      result.ids.push_back(one ? inputs_[i].plain : in_first(i));
    } else {
      result.ids.push_back(to_first(inputs_[i].plain, result.rank));
    }
  }
  return result;
}

}  // namespace anynpu::tensorflow
