// SPDX-License-Identifier: Apache-2.0
// WeightOnlyMatMul and MatMulNBits on packed weights. Few rows read them once, as they are; for
// more rows a panel at a time is widened and multiplied by all of them on the tiles of packed.h.
#include "ops/gemm/weight_only.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "ops/gemm/packed.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/simd/weight_only.h"

namespace anynpu::ops::gemm {

namespace {

constexpr int64_t kFewRows = 8;
constexpr int64_t kLine = kWeightBlocks * 16;  // columns of a call of multiply()
constexpr int64_t kLeastProducts = 1 << 16;    // of a thread

// The packed form: all codes, all scales, all zero points.
struct PackedWeights {
  WeightColumns columns;  // of one block; without addresses
  int64_t n = 0;
  bool zeros_differ = false;

  int64_t blocks() const { return ceil_div(n, int64_t{16}); }
  size_t scales_at() const { return static_cast<size_t>(blocks() * columns.code_step()); }
  size_t zeros_at() const {
    return scales_at() + static_cast<size_t>(blocks() * columns.scale_step()) * sizeof(float);
  }
  size_t bytes() const {
    const size_t scales = zeros_at() - scales_at();
    return zeros_at() + (zeros_differ ? scales : 0);
  }
  WeightColumns at(const std::byte* packed, int64_t block) const {
    WeightColumns found = columns;
    const int64_t scale = block * columns.scale_step();
    found.codes = packed + block * columns.code_step();
    found.scales = reinterpret_cast<const float*>(packed + scales_at()) + scale;
    if (zeros_differ) found.zeros = reinterpret_cast<const float*>(packed + zeros_at()) + scale;
    return found;
  }
};

// Codes of 4 bits are stored unsigned and those of 8 bits signed: by how much they are moved.
int moved(const WeightCodes& w) {
  if (w.bits == 8) return w.is_signed ? 0 : -128;
  return w.is_signed ? 1 << (w.bits - 1) : 0;
}

PackedWeights packed_form(const WeightCodes& w, const OpContext& context) {
  PackedWeights made;
  made.columns.bits = w.bits == 8 ? 8 : 4;
  made.columns.k = w.k, made.columns.group = w.group;
  made.n = w.n;
  const bool given = w.zero_type != DType::undefined;
  const std::byte* zeros = given ? context.inputs[w.zero_at].constant.data() : nullptr;
  const double first = w.k > 0 && w.n > 0 ? w.zero(zeros, 0, 0) : 0;
  for (int64_t j = 0; given && j < w.n && !made.zeros_differ; ++j) {
    for (int64_t g = 0; g < w.groups(); ++g)
      made.zeros_differ = made.zeros_differ || w.zero(zeros, g, j) != first;
  }
  made.columns.zero = static_cast<float>(first + moved(w));
  return made;
}

// The codes of 16 columns; columns beyond n are 0, and so are their scales.
void pack_codes(const WeightCodes& w, const std::byte* codes, int64_t first, std::byte* out) {
  const int64_t count = std::min<int64_t>(16, w.n - first);
  const int move = moved(w);
  if (w.bits == 8) {
    for (int64_t k = 0; k < w.k; ++k) {
      for (int64_t j = 0; j < count; ++j)
        out[k * 16 + j] = static_cast<std::byte>(w.code(codes, k, first + j) + move);
    }
    return;
  }
  const uint32_t flip = w.is_signed ? 0x88888888u : 0u;
  for (int64_t g = 0; g < w.groups(); ++g) {
    for (int64_t from = 0; from < w.length(g); from += 8, out += 64) {
      const int64_t k = g * w.group + from, depth = std::min<int64_t>(8, w.length(g) - from);
      for (int64_t j = 0; j < count; ++j) {
        uint32_t word = 0;
        if (w.in_words() && depth == 8) {
          const int64_t column = first + j;
          const int64_t at =
              w.padded ? (column * w.groups() + g) * w.group + from : column * w.k + k;
          std::memcpy(&word, codes + at / 2, 4);
          word ^= flip;
        } else {
          for (int64_t i = 0; i < depth; ++i) {
            const int code = w.code(codes, k + i, first + j) + move;
            word |= static_cast<uint32_t>(code) << 4 * i;
          }
        }
        std::memcpy(out + j * 4, &word, 4);
      }
    }
  }
}

// A few rows, 64 columns at a time.
struct FewRows {
  GemmShape g;
  PackedWeights weights;
  size_t c_at = 2, z_at = 3;
  const WeightOnlySet* set = nullptr;
  RowMap activation_function = nullptr;
  StepsEpilogue epilogue;

  void operator()(const RunArgs& args) const {
    if (g.m == 0 || g.n == 0) return;
    const auto tasks = static_cast<size_t>(ceil_div(g.n, kLine));
    const auto least = static_cast<size_t>(1 + kLeastProducts / (kLine * g.k * g.m + 1));
    parallel(tasks, least, [&](size_t begin, size_t end) {
      alignas(64) float sums[kWeightRows * kLine];
      for (auto task = static_cast<int64_t>(begin); task < static_cast<int64_t>(end); ++task) {
        const int64_t column = task * kLine, block = task * kWeightBlocks;
        const WeightColumns w = weights.at(args.packed, block);
        const int64_t blocks = std::min(kWeightBlocks, weights.blocks() - block);
        for (int64_t row = 0; row < g.m; row += kWeightRows) {
          const int64_t rows = std::min(kWeightRows, g.m - row);
          set->multiply(w, blocks, input_of<float>(args, 0) + row * g.k, g.k, rows, sums);
          for (int64_t i = 0; i < rows; ++i)
            store(args, sums + i * kLine, row + i, column, std::min(kLine, g.n - column));
        }
      }
    });
  }

  void store(const RunArgs& args, float* sums, int64_t row, int64_t column, int64_t count) const {
    float* y = output_of<float>(args, 0) + row * g.n + column;
    if (g.has_c) {
      const float* c = input_of<float>(args, c_at) + column;
      for (int64_t j = 0; j < count; ++j) sums[j] += c[j];
    }
    if (g.has_z) {
      const float* z = input_of<float>(args, z_at) + row * g.n + column;
      for (int64_t j = 0; j < count; ++j) sums[j] += z[j];
    }
    if (g.activation.on) {  // NaN stays
      for (int64_t j = 0; j < count; ++j) {
        const float low = sums[j] < g.activation.min ? g.activation.min : sums[j];
        sums[j] = low > g.activation.max ? g.activation.max : low;
      }
    }
    std::copy_n(sums, count, y);
    if (activation_function) activation_function(y, y, count);
    if (epilogue) epilogue.apply(y, count);
  }
};

// The plan of packed.h over operands at their places.
class ManyRows final : public KernelPlan {
 public:
  ManyRows(std::unique_ptr<KernelPlan> inner, const WeightOnlyCase& c) : inner_(std::move(inner)) {
    if (c.g.has_c) c_at_ = c.c_at;
    if (c.g.has_z) z_at_ = c.z_at;
    workspace_bytes = inner_->workspace_bytes;
    in_place_input = c.g.has_z ? static_cast<int>(c.z_at) : -1;
  }
  Status run(const RunArgs& args) const override {
    const std::byte* in[] = {args.inputs[0], nullptr, c_at_ ? args.inputs[c_at_] : nullptr,
                             z_at_ ? args.inputs[z_at_] : nullptr};
    return inner_->run({in, args.outputs, args.packed, args.workspace});
  }

 private:
  std::unique_ptr<KernelPlan> inner_;
  size_t c_at_ = 0, z_at_ = 0;  // 0: none
};

class WeightOnly final : public Kernel {
 public:
  WeightOnly(const WeightOnlyCase& c, PackedWeights weights, Isa isa)
      : codes_(c.codes), weights_(weights), isa_(isa) {}

  size_t packed_bytes() const override { return weights_.bytes(); }
  bool packs_input(size_t input) const override {
    return input == codes_.codes_at || input == codes_.scale_at ||
           (input == codes_.zero_at && codes_.zero_type != DType::undefined);
  }

  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    ANYNPU_ASSIGN(const WeightOnlyCase c, WeightOnlyCase::of(context));
    const WeightCodes& w = c.codes;
    const std::byte* scales = context.inputs[w.scale_at].constant.data();
    const std::byte* zeros =
        w.zero_type == DType::undefined ? nullptr : context.inputs[w.zero_at].constant.data();
    std::memset(packed.data(), 0, packed.size());
    parallel_tasks(static_cast<size_t>(weights_.blocks()), [&](size_t task) {
      const auto block = static_cast<int64_t>(task);
      pack_codes(w, context.inputs[w.codes_at].constant.data(), block * 16,
                 packed.data() + block * weights_.columns.code_step());
      const WeightColumns to = weights_.at(packed.data(), block);
      for (int64_t g = 0; g < w.groups(); ++g) {
        for (int64_t j = 0; j < std::min<int64_t>(16, w.n - block * 16); ++j) {
          const int64_t column = block * 16 + j, at = g * 16 + j;
          const double scale = w.scale(scales, g, column) * static_cast<double>(c.g.alpha);
          const_cast<float*>(to.scales)[at] = static_cast<float>(scale);
          if (to.zeros)
            const_cast<float*>(to.zeros)[at] =
                static_cast<float>(w.zero(zeros, g, column) + moved(w));
        }
      }
    });
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(WeightOnlyCase c, WeightOnlyCase::of(context));
    c.g.alpha = 1;  // it is in the scales
    ANYNPU_ASSIGN(StepsEpilogue epilogue, StepsEpilogue::of(context, isa_));
    const WeightOnlySet* set = &weight_only_set(isa_);
    if (c.g.m <= kFewRows) {
      FewRows f{c.g, weights_, c.c_at, c.z_at, set, nullptr, std::move(epilogue)};
      if (c.g.activation_function)
        f.activation_function = row_set(isa_).find(*c.g.activation_function);
      return make_plan(std::move(f));
    }
    const WidenPanel widen = [weights = weights_, set](const std::byte* packed, int64_t block,
                                                       int64_t begin, int64_t end, float* to,
                                                       int64_t step) {
      set->widen(weights.at(packed, block), begin, end, to, step);
    };
    auto inner = plan_packed_gemm(c.g, RightSide::plain, isa_, context.target.threads,
                                  std::move(epilogue), widen);
    return std::unique_ptr<KernelPlan>(std::make_unique<ManyRows>(std::move(inner), c));
  }

 private:
  WeightCodes codes_;
  PackedWeights weights_;
  Isa isa_;
};

}  // namespace

template <Isa isa>
Status can_run_weight_only(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const WeightOnlyCase c, WeightOnlyCase::of(context));
  const WeightCodes& w = c.codes;
  const bool zeros = w.zero_type == DType::undefined || context.inputs[w.zero_at].is_constant;
  if (!context.inputs[w.codes_at].is_constant || !context.inputs[w.scale_at].is_constant || !zeros)
    return fail(Code::unsupported_feature, "codes, scales or zero points are no constants");
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_weight_only(const OpContext& context) {
  ANYNPU_ASSIGN(const WeightOnlyCase c, WeightOnlyCase::of(context));
  return std::unique_ptr<Kernel>(
      std::make_unique<WeightOnly>(c, packed_form(c.codes, context), isa));
}

template Status can_run_weight_only<Isa::avx512>(const OpContext&);
template Status can_run_weight_only<Isa::avx2>(const OpContext&);
template Status can_run_weight_only<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_weight_only<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_weight_only<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_weight_only<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::gemm
