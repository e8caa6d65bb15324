// SPDX-License-Identifier: Apache-2.0
// Element-wise operators, one register function per file. Loops of four kinds, fastest first:
//   rows    f32 by vector instructions (unary_rows.cpp, swish.cpp; simd/rows.h)
//   typed   loops over elements as they lie in memory (typed_engine.h)
//   pairs   f32, f64 and integers, one or two operands (unary.cpp, binary.cpp)
//   wide    every number type through double, int64_t or uint64_t (wide_engine.h)
#pragma once

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::elementwise {

void register_unary_rows(Registry& registry);
void register_typed_unary(Registry& registry);
void register_unary(Registry& registry);
void register_clip(Registry& registry);
void register_binary(Registry& registry);
void register_swish(Registry& registry);
void register_typed_nary(Registry& registry);
void register_wide_unary(Registry& registry);
void register_wide_nary(Registry& registry);
void register_typed_cast(Registry& registry);
void register_cast(Registry& registry);
void register_where(Registry& registry);

}  // namespace anynpu::ops::elementwise
