// SPDX-License-Identifier: Apache-2.0
#include "ops/blocked_layout.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops {

int64_t stored_elements(const Shape& shape, Layout layout) {
  if (layout != Layout::blocked16 || shape.size() < 2) return element_count(shape);
  Shape padded = shape;
  padded[1] = round_up(padded[1], kBlock);
  return element_count(padded);
}

size_t stored_bytes(DType dtype, const Shape& shape, Layout layout) {
  return bytes_of(dtype, static_cast<size_t>(stored_elements(shape, layout)));
}

bool can_block(const Operand& operand) {
  return operand.fully_known() && operand.rank() >= 3 &&
         (operand.dtype == DType::f32 || operand.dtype == DType::f16 ||
          operand.dtype == DType::bf16);
}

namespace {

struct Planes {
  int64_t batch, channels, blocks, plane;
};

// y[4 of columns][4 of rows] = x[4 of rows][4 of columns], for elements of four bytes.
void turn_four(const float* x, int64_t x_step, float* y, int64_t y_step) {
  using Four [[gnu::vector_size(16)]] = uint32_t;
  Four row[4], half[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&row[i], x + i * x_step, sizeof(Four));
  half[0] = __builtin_shuffle(row[0], row[1], Four{0, 4, 1, 5});
  half[1] = __builtin_shuffle(row[0], row[1], Four{2, 6, 3, 7});
  half[2] = __builtin_shuffle(row[2], row[3], Four{0, 4, 1, 5});
  half[3] = __builtin_shuffle(row[2], row[3], Four{2, 6, 3, 7});
  row[0] = __builtin_shuffle(half[0], half[2], Four{0, 1, 4, 5});
  row[1] = __builtin_shuffle(half[0], half[2], Four{2, 3, 6, 7});
  row[2] = __builtin_shuffle(half[1], half[3], Four{0, 1, 4, 5});
  row[3] = __builtin_shuffle(half[1], half[3], Four{2, 3, 6, 7});
  for (int i = 0; i < 4; ++i) std::memcpy(y + i * y_step, &row[i], sizeof(Four));
}

// Whole squares of four channels and four pixels; returns how many pixels are done.
int64_t pack_squares(const float* x, float* y, int64_t channels, int64_t plane) {
  if (channels % 4 != 0) return 0;
  const int64_t whole = plane / 4 * 4;
  for (int64_t p = 0; p < whole; p += 4) {
    for (int64_t c = 0; c < channels; c += 4)
      turn_four(x + c * plane + p, plane, y + p * kBlock + c, kBlock);
    for (int64_t c = channels; c < kBlock; ++c) {
      for (int64_t i = 0; i < 4; ++i) y[(p + i) * kBlock + c] = 0;
    }
  }
  return whole;
}

int64_t unpack_squares(const float* x, float* y, int64_t channels, int64_t plane) {
  if (channels % 4 != 0) return 0;
  const int64_t whole = plane / 4 * 4;
  for (int64_t p = 0; p < whole; p += 4) {
    for (int64_t c = 0; c < channels; c += 4)
      turn_four(x + p * kBlock + c, kBlock, y + c * plane + p, plane);
  }
  return whole;
}

template <typename T>
int64_t pack_squares(const T*, T*, int64_t, int64_t) {
  return 0;
}
template <typename T>
int64_t unpack_squares(const T*, T*, int64_t, int64_t) {
  return 0;
}

// One block of 16 channels of one image: planes of numbers -> pixels of 16 numbers.
template <typename T>
void pack_block(const T* x, T* y, int64_t channels, int64_t plane) {
  for (int64_t p = pack_squares(x, y, channels, plane); p < plane; ++p) {
    for (int64_t c = 0; c < channels; ++c) y[p * kBlock + c] = x[c * plane + p];
    for (int64_t c = channels; c < kBlock; ++c) y[p * kBlock + c] = T{};
  }
}

template <typename T>
void unpack_block(const T* x, T* y, int64_t channels, int64_t plane) {
  const int64_t done = unpack_squares(x, y, channels, plane);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t p = done; p < plane; ++p) y[c * plane + p] = x[p * kBlock + c];
  }
}

template <typename T>
std::unique_ptr<KernelPlan> plan_moves(const Shape& shape, Layout from, Layout to) {
  Planes s{shape[0], shape[1], ceil_div(shape[1], kBlock), 1};
  for (size_t i = 2; i < shape.size(); ++i) s.plane *= shape[i];
  const bool packing = to == Layout::blocked16;
  auto plan = make_plan([=](const RunArgs& args) {
    const auto range =
        std::max<size_t>(1, 4096 / static_cast<size_t>(std::max<int64_t>(1, s.plane)));
    parallel(static_cast<size_t>(s.batch * s.blocks), range, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t n = i / s.blocks, block = i % s.blocks;
        const int64_t channels = std::min(kBlock, s.channels - block * kBlock);
        const int64_t plain = (n * s.channels + block * kBlock) * s.plane;
        const int64_t blocked = i * kBlock * s.plane;
        const T* x = input_of<T>(args, 0);
        T* y = output_of<T>(args, 0);
        if (packing) {
          pack_block(x + plain, y + blocked, channels, s.plane);
        } else {
          unpack_block(x + blocked, y + plain, channels, s.plane);
        }
      }
    });
  });
  plan->input_layouts = {from};
  plan->output_layouts = {to};
  // Whole blocks of single pixels have the same bytes as plain channels.
  plan->view = s.plane == 1 && s.channels % kBlock == 0;
  if (plan->view) plan->in_place_input = 0;
  return plan;
}

// A matrix of pixels by channels a sample, turned.
template <typename T>
std::unique_ptr<KernelPlan> plan_turns(const Shape& shape, Layout from) {
  int64_t plane = 1;
  for (size_t i = 2; i < shape.size(); ++i) plane *= shape[i];
  const int64_t rows = from == Layout::plain ? shape[1] : plane;
  const int64_t columns = from == Layout::plain ? plane : shape[1];
  auto plan = make_plan([batch = shape[0], rows, columns](const RunArgs& args) {
    parallel(static_cast<size_t>(batch * columns), 64, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const T* const x = input_of<T>(args, 0) + i / columns * rows * columns + i % columns;
        T* const y = output_of<T>(args, 0) + i * rows;
        for (int64_t r = 0; r < rows; ++r) y[r] = x[r * columns];
      }
    });
  });
  plan->input_layouts = {from};
  plan->output_layouts = {from == Layout::plain ? Layout::channels_last : Layout::plain};
  plan->view = rows == 1 || columns == 1;
  if (plan->view) plan->in_place_input = 0;
  return plan;
}

template <typename T>
std::unique_ptr<KernelPlan> plan_between(const Shape& shape, Layout from, Layout to) {
  if (from == Layout::channels_last || to == Layout::channels_last)
    return plan_turns<T>(shape, from);
  return plan_moves<T>(shape, from, to);
}

}  // namespace

std::unique_ptr<KernelPlan> plan_reorder(DType dtype, const Shape& shape, Layout from, Layout to) {
  switch (size_of(dtype)) {
    case 1:
      return plan_between<uint8_t>(shape, from, to);
    case 2:
      return plan_between<uint16_t>(shape, from, to);
    default:
      return plan_between<float>(shape, from, to);
  }
}

}  // namespace anynpu::ops
