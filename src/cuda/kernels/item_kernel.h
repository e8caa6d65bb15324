// SPDX-License-Identifier: Apache-2.0
// Kernels that are given as the CUDA code for one item of the result, usually one element of the
// output. For operators whose speed depends on memory or that are rare: there is no tiling.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "ops/plain_kernel.h"

namespace anynpu::device::cuda {

// What `body` may use, k counting operands from 0:
//   i                  the number of the item, u64
//   xk, yk             inputs and outputs; null if absent
//   Tk, Rk             their element types; load(xk[...]) and store(yk[...], value) convert
//   Xk[], SXk[], NXk   shape, strides and element count of an input; Yk, SYk, NYk of an output
//   HAS_Xk, HAS_Yk     1 if present, else 0
//   C                  the compute type
//   $name              an attribute: a number, or an array of integers with its size in $name_size
//   work               the workspace, char*
//   board, number      for fault() (cuda/faults.h)
// Types that CUDA C++ has no name for, such as 8-bit floats, are integers of the same size.
struct ItemKernel {
  std::string body;
  size_t items = 0;
  std::string before = {};        // code at file scope, after the definitions of types and shapes
  std::string_view compute = {};  // C; by default that of input 0
  int copied_input = -1;          // output 0 starts as a copy of this input
  unsigned block_threads = 0;     // if set, one thread block with this many threads for each item
  size_t workspace_bytes = 0;
};

// `text` with each @name replaced by its value.
using Values = std::initializer_list<std::pair<std::string_view, std::string>>;
std::string filled(std::string text, Values values);

ops::PlanResult plan_items(const ops::OpContext& context, const ItemKernel& kernel);

// Whether all operands have types that item kernels can have.
Status can_run_items(const ops::OpContext& context);

// Whether the inputs of `mask` (bit k = input k) are absent or constant.
bool has_constants(const ops::OpContext& context, uint64_t mask);

inline ops::KernelDef item_kernel(
    std::string_view op, ops::DTypeSet types,
    Result<std::unique_ptr<ops::Kernel>> (*create)(const ops::OpContext&),
    std::string_view domain = {}, Status (*can_run)(const ops::OpContext&) = can_run_items) {
  return {.op = op,
          .name = "cuda_items",
          .domain = domain,
          .backend = "cuda",
          .types = types,
          .can_run = can_run,
          .create = create};
}

}  // namespace anynpu::device::cuda
