// SPDX-License-Identifier: Apache-2.0
// A kernel is one implementation of an operator on one back end. Life cycle:
//   KernelDef::can_run(context)  ok, or the reason why not
//   KernelDef::create(context)   -> Kernel: attributes read, packed size of the weights known
//   Kernel::pack(context, bytes) packs the weights, once per loaded model
//   Kernel::plan(context)        -> KernelPlan for these shapes: layouts, workspace, in-place hints
//   KernelPlan::run(args)        the work: no allocation, lock or name lookup
// create and plan are pure functions of the context and its target: making a plan only to learn
// sizes costs no packing. Kernel and KernelPlan are immutable after pack, so any number of threads
// may run one plan at a time, each with its own buffers and workspace. Work is split over
// base/thread_pool.h. The split and the order of every sum depend only on shapes and thread count,
// so results are bitwise reproducible.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/align.h"
#include "base/result.h"
#include "ops/schema.h"

namespace anynpu::ops {

// Every buffer a plan hands out starts on this boundary.
constexpr size_t kBufferAlignment = 64;

struct RunArgs {
  std::span<const std::byte* const> inputs;  // null: absent, or packed by the kernel
  std::span<std::byte* const> outputs;
  const std::byte* packed = nullptr;  // what pack() wrote
  std::byte* workspace = nullptr;     // workspace_bytes(); contents undefined on entry
  // Per-thread scratch and its stride in bytes; null: at the end of the workspace.
  std::byte* thread_scratch = nullptr;
  size_t thread_scratch_step = 0;
};

class KernelPlan {
 public:
  virtual ~KernelPlan() = default;
  virtual Status run(const RunArgs& args) const = 0;

  // Layouts that the plan needs for its operands; empty: all plain. The caller converts.
  std::vector<Layout> input_layouts;
  std::vector<Layout> output_layouts;
  size_t workspace_bytes = 0;
  // The end of the workspace may be per-thread scratch. A runner of many plans gives them all the
  // same scratch, so that it is already in the cache of the thread's core.
  size_t thread_scratch_count = 0, thread_scratch_bytes = 0;
  void add_thread_scratch(size_t count, size_t bytes);
  std::byte* thread_scratch(const RunArgs& args, size_t slot) const;
  // Output 0 may use the buffer of this input; -1: none. With `view` the bytes are equal as well:
  // if both share memory, run() need not be called (Reshape, Identity).
  int in_place_input = -1;
  bool view = false;
};

inline void KernelPlan::add_thread_scratch(size_t count, size_t bytes) {
  thread_scratch_count = bytes > 0 ? count : 0;
  thread_scratch_bytes = round_up(bytes, kBufferAlignment);
  workspace_bytes =
      round_up(workspace_bytes, kBufferAlignment) + thread_scratch_count * thread_scratch_bytes;
}

inline std::byte* KernelPlan::thread_scratch(const RunArgs& args, size_t slot) const {
  if (args.thread_scratch) return args.thread_scratch + slot * args.thread_scratch_step;
  return args.workspace + workspace_bytes - (thread_scratch_count - slot) * thread_scratch_bytes;
}

class Kernel {
 public:
  virtual ~Kernel() = default;

  // Bytes that pack() writes, and whether the raw constant `input` is no longer needed afterwards.
  virtual size_t packed_bytes() const { return 0; }
  virtual bool packs_input(size_t input) const { return false; }
  virtual Status pack(const OpContext& context, std::span<std::byte> packed) { return {}; }

  // All extents in `context` are known; context.outputs is filled in.
  virtual Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const = 0;
};

// A line of an operator's kernel list (Registry::add_kernels).
struct KernelLine {
  std::string_view name;  // "conv_avx512", "conv_reference": unique within an operator
  DTypeSet types;         // of the first input
  Status (*can_run)(const OpContext& context) = nullptr;  // null: every case of `types`
  Result<std::unique_ptr<Kernel>> (*create)(const OpContext& context) = nullptr;
};

struct KernelDef {
  std::string_view op;    // schema name
  std::string_view name;  // "conv_blocked", "conv_reference": unique within an operator
  std::string_view domain = {};
  std::string_view backend = "cpu";                       // Target::backend
  DTypeSet types;                                         // of the first input
  Status (*can_run)(const OpContext& context) = nullptr;  // null: every case of `types`
  Result<std::unique_ptr<Kernel>> (*create)(const OpContext& context) = nullptr;
};

}  // namespace anynpu::ops
