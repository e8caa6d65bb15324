// SPDX-License-Identifier: Apache-2.0
#include "exec/weight_pool.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "graph/flow.h"

namespace anynpu::exec {

namespace {

constexpr size_t kSmall = size_t{64} << 10;          // compared by content, which the pool keeps
constexpr size_t kMostSmallBytes = size_t{4} << 20;  // of these; then it starts again

void append(std::string& key, const void* data, size_t bytes) {
  const uint64_t size = bytes;
  key.append(reinterpret_cast<const char*>(&size), sizeof size);
  if (bytes > 0) key.append(static_cast<const char*>(data), bytes);
}

void append(std::string& key, const graph::Attr& attr) {
  const size_t kind = attr.index();
  append(key, &kind, sizeof kind);
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<T>) {
          append(key, &value, sizeof value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          append(key, value.data(), value.size());
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          for (const std::string& text : value) append(key, text.data(), text.size());
        } else if constexpr (std::is_same_v<T, graph::TensorAttr>) {
          append(key, value.data->bytes.data(), value.data->bytes.size());
        } else if constexpr (std::is_same_v<T, std::shared_ptr<const graph::Graph>>) {
          append(key, &value, sizeof value);
        } else {
          append(key, value.data(), value.size() * sizeof(value[0]));
        }
      },
      attr);
}

}  // namespace

WeightPool::WeightPool(const graph::Graph* source) {
  if (source) note_constants(*source);
}

void WeightPool::note_constants(const graph::Graph& graph) {
  for (const graph::Value& value : graph.values) {
    if (!value.constant) continue;
    const Bytes bytes = value.constant->bytes;
    if (source_.emplace(std::pair(bytes.data(), bytes.size()), numbers_ + 1).second) ++numbers_;
  }
  for (const graph::Node& node : graph.nodes) {
    for (std::string_view attr : graph::subgraph_attrs(node)) {
      if (const auto inner = graph::subgraph(node, attr)) note_constants(*inner);
    }
  }
}

void WeightPool::open() {
  host_ = std::make_shared<WeightChunk>();
  device_ = std::make_shared<WeightChunk>();
  device_->side = WeightSide::device;
  std::erase_if(stored_, [](const auto& entry) { return entry.second.chunk.expired(); });
  if (small_bytes_ > kMostSmallBytes) {  // numbers are never given twice: old places just go unused
    small_.clear();
    small_bytes_ = 0;
  }
}

void WeightPool::close() {
  host_.reset();
  device_.reset();
  large_.clear();
}

uint64_t WeightPool::number_of(Bytes bytes) {
  const auto own = source_.find({bytes.data(), bytes.size()});
  if (own != source_.end()) return own->second;
  if (bytes.size() <= kSmall) {
    std::string content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [entry, added] = small_.emplace(std::move(content), numbers_ + 1);
    if (added) {
      ++numbers_;
      small_bytes_ += bytes.size();
    }
    return entry->second;
  }
  for (const auto& [other, number] : large_) {
    if (other.size() == bytes.size() && std::memcmp(other.data(), bytes.data(), bytes.size()) == 0)
      return number;
  }
  large_.emplace_back(bytes, ++numbers_);
  return numbers_;
}

WeightPool::Reserved WeightPool::reserve(const std::string& key, size_t bytes, WeightSide side) {
  const auto found = stored_.find(key);
  if (found != stored_.end()) {
    if (auto chunk = found->second.chunk.lock())
      return {std::move(chunk), found->second.offset, false};
  }
  const std::shared_ptr<WeightChunk>& into = chunk(side);
  const size_t offset = into->bytes;
  into->bytes += round_up(bytes, ops::kBufferAlignment);
  stored_[key] = {into, offset};
  return {into, offset, true};
}

WeightPool::Reserved WeightPool::constant(Bytes bytes, WeightSide side) {
  const uint64_t number = number_of(bytes);
  std::string key;
  append(key, &number, sizeof number);
  append(key, &side, sizeof side);
  return reserve(key, bytes.size(), side);
}

WeightPool::Reserved WeightPool::packed(const ops::KernelDef& def, const ops::Kernel& kernel,
                                        const ops::OpContext& context) {
  const auto which = reinterpret_cast<uintptr_t>(&def);
  const size_t bytes = kernel.packed_bytes();
  std::string key;
  append(key, &which, sizeof which);
  append(key, &bytes, sizeof bytes);
  append(key, &context.node->opset, sizeof context.node->opset);
  for (const auto& [name, attr] : context.node->attrs) {
    append(key, name.data(), name.size());
    append(key, attr);
  }
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const ops::Operand& input = context.inputs[i];
    if (!input.present) continue;
    append(key, &i, sizeof i);
    append(key, &input.dtype, sizeof input.dtype);
    if (!input.is_constant) continue;
    const uint64_t number = number_of(input.constant);
    append(key, input.shape.data(), input.shape.size() * sizeof(int64_t));
    append(key, &number, sizeof number);
  }
  return reserve(key, bytes, def.backend == "cpu" ? WeightSide::host : WeightSide::device);
}

}  // namespace anynpu::exec
