// SPDX-License-Identifier: Apache-2.0
// The order of kernels of element-wise operators: one rule for all of them.
#include "ops/elementwise/elementwise.h"
#include "ops/families.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

void add_list(Registry& registry, std::string_view op, const KernelLine& reference) {
  std::vector<KernelLine> list;
  const auto append = [&](const std::vector<KernelLine>& lines) {
    list.insert(list.end(), lines.begin(), lines.end());
  };
  // Exp, Erf, Tanh, Sigmoid, Gelu: polynomials in AVX-512 or AVX2 registers over f32; short floats
  // are widened for them.
  append(row_kernels(op));
  append(swish_kernels(op));
  // Cast between f32 and the 16-bit floats: the conversions that models have everywhere.
  append(short_cast_kernels(op));
  // A loop for each type, over elements as they lie in memory, which the compiler makes vectors of.
  append(typed_unary_kernels(op));
  append(typed_nary_kernels(op));
  append(typed_cast_kernels(op));
  // Every case: f32, f64 and integers directly (unary.cpp, binary.cpp), all types through blocks of
  // double, int64_t or uint64_t (wide_*.cpp).
  list.push_back(reference);
  registry.add_kernels(op, list);
}

void register_family(Registry& registry) {
  register_unary(registry);
  register_clip(registry);
  register_binary(registry);
  register_swish(registry);
  register_function_rows(registry);
  register_to_complex(registry);
  register_complex_functions(registry);
  register_wide_unary(registry);
  register_wide_nary(registry);
  register_cast(registry);
  register_where(registry);
  register_fused(registry);
}

}  // namespace anynpu::ops::elementwise
