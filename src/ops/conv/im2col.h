// SPDX-License-Identifier: Apache-2.0
// Convolutions by im2col and GEMM (f32): any number of axes, non-constant weights, and transposed
// convolutions. Output positions are split into panels of columns; the input windows of a panel are
// copied into it (im2col), and the weights are the rows that are multiplied with it (simd/tile.h).
// The whole im2col matrix is never in memory.
//
// A transposed convolution of stride s is s interleaved convolutions: output positions with the
// same remainder use the same taps, at neighbouring inputs. Each such set is a phase, and each
// output is written once.
#pragma once

#include <memory>
#include <vector>

#include "ops/conv/conv.h"

namespace anynpu::ops::conv {

constexpr size_t kMostIm2colAxes = 4;
constexpr size_t kMostPhases = 1024;

// Output positions that use the same taps. Position q of its grid, along each axis, reads the input
// at q * in_step + offset of the tap and writes the output at q * out_step + first.
struct ConvPhase {
  std::vector<int64_t> grid, first;
  std::vector<int64_t> taps{};     // places in the kernel
  std::vector<int64_t> offsets{};  // of each tap, along each axis

  int64_t positions() const;
  void add(int64_t tap, const std::vector<int64_t>& offset);
};

// The position of a tap in the dilated kernel, along each axis.
std::vector<int64_t> tap_place(const std::vector<int64_t>& kernel,
                               const std::vector<int64_t>& dilation, int64_t tap);

struct Im2colConv {
  int64_t batch = 0, in_channels = 0, out_channels = 0, group = 1;
  std::vector<int64_t> in, out, in_step, out_step;
  int64_t kernel_taps = 1;
  bool transposed = false;  // weights are C, M / group, taps instead of M, C / group, taps
  std::vector<ConvPhase> phases{};
  bool has_bias = false, has_residual = false;  // inputs 2 and 3
  Activation activation{};

  int64_t in_group() const { return in_channels / group; }
  int64_t out_group() const { return out_channels / group; }
};

// What differs between the two operators. If the extents of the input are unknown, so are the
// grids, but taps are still right.
using Im2colRule = Result<Im2colConv> (*)(const OpContext& context);
Result<Im2colConv> im2col_conv_of(const OpContext& context);            // Conv, FusedConv
Result<Im2colConv> im2col_conv_transpose_of(const OpContext& context);  // image/

// Refuses more than kMostIm2colAxes axes or kMostPhases phases, windows of many megabytes, and
// convolutions of a few thousand products: the reference is fast enough for these, sums in double,
// and does not multiply padding with infinite weights.
Status check_im2col(const Im2colConv& conv, Isa isa);
Result<std::unique_ptr<Kernel>> create_im2col(const OpContext& context, Im2colRule rule, Isa isa);

template <Im2colRule rule, Isa isa>
Status can_run_im2col(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const Im2colConv conv, rule(context));
  return check_im2col(conv, isa);
}
template <Im2colRule rule, Isa isa>
Result<std::unique_ptr<Kernel>> create_im2col_conv(const OpContext& context) {
  return create_im2col(context, rule, isa);
}

}  // namespace anynpu::ops::conv
