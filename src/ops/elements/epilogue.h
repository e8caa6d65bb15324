// SPDX-License-Identifier: Apache-2.0
// What a fused convolution or matrix product computes from its result, element by element: the
// attributes of program.h with one input. Kernels that can do it while the result is in the cache
// hold a StepsEpilogue; the others are created by with_epilogue(), which makes another pass over
// the result.
#pragma once

#include <memory>
#include <optional>

#include "ops/elements/program.h"
#include "ops/kernel.h"

namespace anynpu::ops {

inline bool has_epilogue(const OpContext& context) { return context.has_attr("steps"); }

class StepsEpilogue {
 public:
  // Nothing where the node has none.
  static Result<StepsEpilogue> of(const OpContext& context, Isa isa);
  explicit operator bool() const { return program_.has_value(); }
  // In place.
  void apply(float* x, int64_t count) const;

 private:
  std::optional<BoundProgram> program_;
};

// `inner` with the epilogue of the node as a pass of its own; `inner` itself where there is none.
Result<std::unique_ptr<Kernel>> add_epilogue(const OpContext& context,
                                             std::unique_ptr<Kernel> inner);

template <Result<std::unique_ptr<Kernel>> (*create)(const OpContext&)>
Result<std::unique_ptr<Kernel>> with_epilogue(const OpContext& context) {
  ANYNPU_ASSIGN(auto inner, create(context));
  return add_epilogue(context, std::move(inner));
}

}  // namespace anynpu::ops
