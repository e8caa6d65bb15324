// SPDX-License-Identifier: Apache-2.0
// For fuzz_aclnn: bytes become numbers, shapes, types and texts; the ends of ranges come often.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace anynpu::fuzz {

// The bytes of the input in order; zeros behind its end.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> data) : data_(data) {}
  uint8_t byte() { return at_ < data_.size() ? data_[at_++] : 0; }
  template <typename Table>
  auto one_of(const Table& table) {
    return table[byte() % std::size(table)];
  }
  bool one_in(int count) { return byte() % count == count - 1; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  bool done() const { return at_ >= data_.size(); }

 private:
  std::span<const uint8_t> data_;
  size_t at_ = 0;
};

using Extents = std::vector<int64_t>;

constexpr int64_t kMostElements = 4096;
// Types of real numbers come often.
constexpr DType kTypes[] = {
    DType::f32,    DType::f16,    DType::i32,    DType::i64,      DType::boolean, DType::f64,
    DType::bf16,   DType::u8,     DType::i8,     DType::i16,      DType::f32,     DType::c64,
    DType::c128,   DType::u16,    DType::u32,    DType::u64,      DType::f32,     DType::c32,
    DType::string, DType::i4,     DType::u1,     DType::hif8,     DType::f8e5m2,  DType::f8e4m3,
    DType::f8e8m0, DType::f6e3m2, DType::f4e2m1, DType::undefined};
constexpr Format kFormats[] = {Format::nd,
                               Format::nchw,
                               Format::nhwc,
                               Format::ncdhw,
                               static_cast<Format>(29),
                               static_cast<Format>(-5)};
constexpr int64_t kExtents[] = {2, 3, 1, 4, 0, 5, 7, 8, 16, 17, 32, 1, 2, 3, 64, 129};
constexpr int64_t kIntegers[] = {0,
                                 1,
                                 2,
                                 3,
                                 -1,
                                 -2,
                                 4,
                                 5,
                                 7,
                                 8,
                                 16,
                                 -3,
                                 100,
                                 std::numeric_limits<int32_t>::max(),
                                 std::numeric_limits<int32_t>::min(),
                                 std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min()};
constexpr double kReals[] = {0,
                             1,
                             0.5,
                             -1,
                             2,
                             1e-5,
                             1e30,
                             -1e30,
                             1e300,
                             std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
constexpr const char* kTexts[] = {nullptr, "",      "sum",    "mean", "none", "bilinear", "nearest",
                                  "floor", "trunc", "linear", "BSND", "SBH",  "half",     "%s%n"};

inline int64_t integer_of(Reader& reader) {
  const uint8_t kind = reader.byte();
  return kind == 255 ? static_cast<int64_t>(reader.word()) : kIntegers[kind % std::size(kIntegers)];
}

inline int64_t count_of(const Extents& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (extent > kMostElements || (count *= std::max<int64_t>(extent, 0)) > kMostElements)
      return kMostElements + 1;
  }
  return count;
}

inline Extents shape_of(Reader& reader) {
  static constexpr size_t kRanks[] = {2, 3, 1, 4, 2, 3, 4, 0, 5, 6, 8, 17};
  Extents shape(reader.one_of(kRanks));
  for (int64_t& extent : shape) extent = reader.one_of(kExtents);
  for (size_t i = 0; i < shape.size() && count_of(shape) > kMostElements; ++i) shape[i] = 1;
  return shape;
}

}  // namespace anynpu::fuzz
