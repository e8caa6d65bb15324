// SPDX-License-Identifier: Apache-2.0
// Present keys and values of Attention: the past ones followed by the current ones.
#include <cstring>

#include "base/align.h"
#include "ops/attention/attention.h"
#include "ops/parallel.h"

namespace anynpu::ops::attention {

size_t present_bytes(const OpContext& context, const AttentionShape& a,
                     const CachedTensor& tensor) {
  const bool wanted =
      context.outputs.size() > tensor.output && context.outputs[tensor.output].present;
  if (!a.has_past || wanted) return 0;
  const size_t bytes =
      static_cast<size_t>(a.batch * a.kv_heads * a.columns * tensor.size) * size_of(tensor.type);
  return round_up(bytes, kBufferAlignment);
}

PresentWorkspace present_workspace(const OpContext& context, const AttentionShape& a,
                                   size_t begin) {
  PresentWorkspace at{.key_at = begin};
  at.value_at = at.key_at + present_bytes(context, a, a.key);
  at.end = at.value_at + present_bytes(context, a, a.value);
  return at;
}

const std::byte* join_present(const AttentionShape& a, const CachedTensor& tensor,
                              const RunArgs& args, std::byte* scratch) {
  const std::byte* given = args.inputs[tensor.input];
  std::byte* present = args.outputs.size() > tensor.output ? args.outputs[tensor.output] : nullptr;
  if (!present && a.has_past) present = scratch;
  if (!present) return given;
  const std::byte* past = a.has_past ? args.inputs[tensor.past_input] : nullptr;
  const size_t line = static_cast<size_t>(tensor.size) * size_of(tensor.type);
  const auto old = static_cast<size_t>(a.past);
  const int64_t fresh = a.columns - a.past;
  parallel(static_cast<size_t>(a.batch * a.kv_heads), 1, [&](size_t begin, size_t end) {
    for (size_t head = begin; head < end; ++head) {
      std::byte* to = present + head * static_cast<size_t>(a.columns) * line;
      if (old * line > 0) std::memcpy(to, past + head * old * line, old * line);
      to += old * line;
      const auto b = static_cast<int64_t>(head) / a.kv_heads,
                 h = static_cast<int64_t>(head) % a.kv_heads;
      for (int64_t r = 0; line > 0 && r < fresh; ++r, to += line) {
        const auto from = static_cast<size_t>(tensor.given.at(b, h, r)) * size_of(tensor.type);
        std::memcpy(to, given + from, line);
      }
    }
  });
  return a.has_past ? present : given;
}

}  // namespace anynpu::ops::attention
