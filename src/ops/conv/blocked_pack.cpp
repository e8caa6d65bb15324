// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "ops/conv/blocked.h"
#include "ops/parallel.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::conv {

namespace {

// Up to this many channels, pixels are interleaved instead of padded to a block of 16.
constexpr int64_t kFewChannels = 8;

}  // namespace

Result<BlockedWeights> blocked_weights_of(const OpContext& context, int64_t panel_blocks) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  const size_t dims = c.window.dims();
  if (dims > 3) return fail(Code::unsupported_shape, "{} spatial dimensions, takes 1 to 3", dims);
  ANYNPU_TRY(context.check_constants(1, 2, "weight or bias"));
  BlockedWeights w;
  w.panel_blocks = panel_blocks;
  w.in_per_group = c.in_channels / c.group;
  w.out_per_group = c.out_channels / c.group;
  w.kernel_d = dims == 3 ? c.window.kernel[0] : 1;
  w.kernel_h = dims >= 2 ? c.window.kernel[dims - 2] : 1;
  w.kernel_w = c.window.kernel.back();
  w.joined_columns = c.window.dilation.back() == 1 || w.kernel_w == 1;
  // Groups narrower than a block share one, with zeros between them.
  while (c.group > w.merged &&
         (w.merged * w.in_per_group % 16 != 0 || w.merged * w.out_per_group % 16 != 0)) {
    ++w.merged;
    while (c.group % w.merged != 0) ++w.merged;
  }
  w.group = c.group / w.merged;
  w.in_channels = w.merged * w.in_per_group;
  w.out_channels = w.merged * w.out_per_group;
  if (c.group > 1 && w.merged > 16) {
    return fail(Code::unsupported_shape, "{} groups of {} and {} channels do not fill blocks of 16",
                c.group, w.in_per_group, w.out_per_group);
  }
  w.interleaved = w.group == 1 && w.in_channels <= kFewChannels;
  return w;
}

void BlockedWeights::pack(const float* weight, const float* bias, std::byte* packed) const {
  const int64_t taps = this->taps(), length = run_length();
  // One row of a panel: the weights of input `i` and `tap` for `width` outputs from `first` on.
  const auto pack_row = [&](int64_t g, int64_t first, int64_t width, int64_t i, int64_t tap,
                            float* out) {
    std::fill(out, out + width, 0.0f);
    if (i >= in_channels) return;
    // Merged groups: only outputs of the group that `i` belongs to; zeros between the groups.
    const int64_t own = i / in_per_group * out_per_group;
    const int64_t begin = std::max(first, own);
    const int64_t end = std::min(first + width, own + out_per_group);
    const int64_t step = in_per_group * taps;
    const float* from =
        weight + ((g * out_channels + begin) * in_per_group + i % in_per_group) * taps + tap;
    for (int64_t o = begin; o < end; ++o, from += step) out[o - first] = *from;
  };
  parallel_tasks(static_cast<size_t>(group * panels()), [&](size_t task) {
    const int64_t g = static_cast<int64_t>(task) / panels();
    const int64_t panel = static_cast<int64_t>(task) % panels(), width = blocks_of(panel) * 16;
    const int64_t rows = runs() * length;
    const bool narrow = kind != BlockedKind::f32;
    std::vector<float> wide(narrow ? static_cast<size_t>(rows * width) : 0);
    float* out = narrow ? wide.data() : reinterpret_cast<float*>(packed) + panel_offset(g, panel);
    for (int64_t run = 0; run < runs(); ++run) {
      const auto [block, slice, row, column] = run_at(run);
      for (int64_t k = 0; k < length; ++k, out += width) {
        const int64_t tap = (slice * kernel_h + row) * kernel_w + column + k / pixel_floats();
        const int64_t i = block * 16 + k % pixel_floats();
        pack_row(g, panel * panel_blocks * 16, width, i, tap, out);
      }
    }
    if (kind == BlockedKind::bf16) {
      pair_weights(wide.data(), rows, width,
                   reinterpret_cast<BF16*>(packed) + panel_offset(g, panel));
    } else if (kind == BlockedKind::bytes) {
      quad_weights(wide.data(), rows, width,
                   reinterpret_cast<int8_t*>(packed) + panel_offset(g, panel));
    }
  });
  float* out = reinterpret_cast<float*>(packed + bias_start());
  for (int64_t g = 0; g < group; ++g) {
    for (int64_t o = 0; o < out_blocks() * 16; ++o) {
      *out++ = bias && o < out_channels ? bias[g * out_channels + o] : 0.0f;
    }
  }
}

namespace {

class BlockedConv final : public Kernel {
 public:
  BlockedConv(const BlockedWeights& weights, const TileSet& tiles)
      : weights_(weights), tiles_(tiles) {}

  size_t packed_bytes() const override { return weights_.bytes(); }
  bool packs_input(size_t input) const override { return input == 1 || input == 2; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    std::vector<float> buffers[2];
    const auto constant = [&](size_t input) -> const float* {
      if (!context.has_input(input)) return nullptr;
      const auto bytes = context.inputs[input].constant;
      if (weights_.kind == BlockedKind::f32) return reinterpret_cast<const float*>(bytes.data());
      std::vector<float>& wide = buffers[input - 1];
      wide.resize(bytes.size() / sizeof(BF16));
      widen(DType::bf16, bytes.data(), wide.data(), wide.size());
      return wide.data();
    };
    weights_.pack(constant(1), constant(2), packed.data());
    return {};
  }
  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    return plan_blocked_conv(context, weights_, tiles_);
  }

 private:
  BlockedWeights weights_;
  const TileSet& tiles_;
};

}  // namespace

template <Isa isa>
Status can_run_blocked_conv(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  return blocked_weights_of(context, tile_set(isa).panel_blocks).status();
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_blocked_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const BlockedWeights weights,
                blocked_weights_of(context, tile_set(isa).panel_blocks));
  return std::unique_ptr<Kernel>(std::make_unique<BlockedConv>(weights, tile_set(isa)));
}

Status can_run_bf16_conv(const OpContext& context) {
  ANYNPU_TRY(check_bf16());
  ANYNPU_ASSIGN(const BlockedWeights weights, blocked_weights_of(context, kBf16Blocks));
  if (weights.merged > 4) {
    return fail(Code::unsupported_shape, "{} groups would be computed as one", weights.merged);
  }
  return {};
}

Result<std::unique_ptr<Kernel>> create_bf16_conv(const OpContext& context) {
  ANYNPU_ASSIGN(BlockedWeights weights, blocked_weights_of(context, kBf16Blocks));
  weights.kind = BlockedKind::bf16;
  return std::unique_ptr<Kernel>(std::make_unique<BlockedConv>(weights, tile_set(Isa::baseline)));
}

template Status can_run_blocked_conv<Isa::avx512>(const OpContext&);
template Status can_run_blocked_conv<Isa::avx2>(const OpContext&);
template Status can_run_blocked_conv<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_blocked_conv<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_blocked_conv<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_blocked_conv<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::conv
