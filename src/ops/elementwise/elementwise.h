// SPDX-License-Identifier: Apache-2.0
// Element-wise operators. Each file adds schemas with the kernel that takes every case; kernels.cpp
// puts the faster kernels of the operator in front of it.
#pragma once

#include <string_view>
#include <vector>

#include "ops/kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::elementwise {

// The kernel list of `op` (kernels.cpp): faster loops in order, then `reference`.
void add_list(Registry& registry, std::string_view op, const KernelLine& reference);

// The faster kernels for an operator; may be empty.
std::vector<KernelLine> row_kernels(std::string_view op);          // unary_rows.cpp
std::vector<KernelLine> swish_kernels(std::string_view op);        // swish.cpp
std::vector<KernelLine> short_cast_kernels(std::string_view op);   // cast.cpp
std::vector<KernelLine> typed_unary_kernels(std::string_view op);  // typed_unary.cpp
std::vector<KernelLine> typed_nary_kernels(std::string_view op);   // typed_nary.cpp
std::vector<KernelLine> typed_cast_kernels(std::string_view op);   // typed_cast.cpp

void register_unary(Registry& registry);
void register_clip(Registry& registry);
void register_binary(Registry& registry);
void register_swish(Registry& registry);
void register_function_rows(Registry& registry);
void register_to_complex(Registry& registry);
void register_complex_functions(Registry& registry);
// Whether ComplexFunction has a row of this name.
bool is_complex_function(std::string_view name);
void register_wide_unary(Registry& registry);
void register_wide_nary(Registry& registry);
void register_cast(Registry& registry);
void register_where(Registry& registry);
void register_fused(Registry& registry);

}  // namespace anynpu::ops::elementwise
