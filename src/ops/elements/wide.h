// SPDX-License-Identifier: Apache-2.0
// Elements of any numeric type, or bool, as blocks of a wide type: double, int64_t or uint64_t. An
// operator is written once per wide type and each element type has one load and one store per wide
// type, instead of one loop for every pair.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/microscaling.h"

namespace anynpu::ops {

constexpr int64_t kBlockLength = 256;

enum class WideKind : uint8_t { float64, int64, uint64 };

// double for floating types, uint64_t for unsigned ones, int64_t for the rest and bool.
WideKind wide_kind(DType type);

// out[i] = base[at + i * step] for i in [0, count).
template <typename W>
using LoadBlock = void (*)(const std::byte* base, int64_t at, int64_t step, W* out, int64_t count);
// base[at + i] = in[i]; rounds to nearest for short floats, truncates towards zero and wraps for
// integers, non-zero is true for bool; `rule` is for floats of 8 bits and less. Elements of 4 and 6
// bits share bytes: one thread must store them, in order (see stored_in_bytes).
template <typename W>
using StoreBlock = void (*)(std::byte* base, int64_t at, const W* in, int64_t count);

// W: double, int64_t, uint64_t. Null for types that are not numbers (complex, string).
template <typename W>
LoadBlock<W> load_block(DType type);
template <typename W>
StoreBlock<W> store_block(DType type, SmallFloatRule rule = {});

// Whether elements do not share bytes, so that several threads may store them.
inline bool stored_in_bytes(DType type) { return bits_of(type) % 8 == 0; }

// One element of a parameter tensor; 0 for types that are no numbers.
template <typename W>
W load_one(DType type, const std::byte* base, int64_t at = 0);

}  // namespace anynpu::ops
