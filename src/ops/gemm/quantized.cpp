// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/quantized.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/align.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/simd/tile_int8.h"
#include "ops/simd/tile_quant.h"

namespace anynpu::ops::gemm {

namespace {

constexpr int64_t kQuantPanel = 16 * kQuantBlocks;  // columns
constexpr int64_t kTasksOfThread = 4;
constexpr int64_t kPage = 4096;  // rows so far apart share the sets of the first-level cache

Status quantized_matmul_rule(OpContext& context) {
  context.outputs[0].dtype = quantize::quantized_type(context);
  if (!context.inputs[0].has_shape || !context.inputs[1].has_shape) return {};
  ANYNPU_ASSIGN(const QuantizedMatMulCase c, QuantizedMatMulCase::of(context));
  Shape shape = context.inputs[0].shape;
  shape.back() = c.n;
  return quantize::set_quantized_output(context, std::move(shape));
}

Status check_matrix(const OpContext& context) {
  return context.check_constants(1, 2, "matrix or bias");
}

class QuantizedMatMul final : public Kernel {
 public:
  explicit QuantizedMatMul(const QuantizedMatMulCase& c)
      : k_(c.k), steps_(ceil_div(c.k, 4)), n_(c.n), requantize_(c.requantize) {}

  // Panels of [k / 4][32][4], then factors, biases and starts.
  size_t packed_bytes() const override {
    return static_cast<size_t>(panels() * kQuantPanel * (steps_ * 4 + 3 * 4));
  }
  bool packs_input(size_t input) const override { return input == 1 || input == 2; }

  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    ANYNPU_ASSIGN(const QuantizedMatMulCase c, QuantizedMatMulCase::of(context));
    auto* weights = reinterpret_cast<int8_t*>(packed.data());
    parallel_tasks(static_cast<size_t>(panels()), [&](size_t task) {
      const int64_t first = static_cast<int64_t>(task) * kQuantPanel;
      int8_t* out = weights + first * steps_ * 4;
      std::memset(out, 0, static_cast<size_t>(steps_ * 4 * kQuantPanel));
      const int64_t width = std::min(kQuantPanel, n_ - first);
      const int64_t stored = width > 16 ? kQuantPanel : 16;  // the last panel may be of one block
      for (int64_t k = 0; k < k_; ++k) {
        for (int64_t j = 0; j < width; ++j)
          out[(k / 4 * stored + j) * 4 + k % 4] = c.weight(k, first + j);
      }
    });
    float* factors = reinterpret_cast<float*>(packed.data() + weight_bytes());
    float* biases = factors + panels() * kQuantPanel;
    auto* starts = reinterpret_cast<int32_t*>(biases + panels() * kQuantPanel);
    for (int64_t j = 0; j < panels() * kQuantPanel; ++j) {
      factors[j] = j < n_ ? requantize_.factor(j) : 0;
      biases[j] = j < n_ && c.bias ? requantize_.added(c.bias[j]) : 0;
      starts[j] = j < n_ ? c.start(j) : 0;
    }
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const QuantizedMatMulCase c, QuantizedMatMulCase::of(context));
    const QuantEpilogue epilogue = requantize_.epilogue();
    const int64_t m = c.m, n = n_, k = k_, steps = steps_, columns = panels();
    const size_t weight_bytes = this->weight_bytes();
    const bool residual = context.has_input(3);
    const bool copies = k % 4 != 0 || (k % kPage == 0 && m > 4);
    const int64_t row_bytes = !copies ? k : round_up(k, 4) + (k % kPage == 0 ? 64 : 0);
    // Row tiles differ by one row at most.
    const int64_t tiles = ceil_div(m, kQuantPixels);
    const auto threads = static_cast<int64_t>(context.target.threads);
    const int64_t wanted = threads == 1 ? 1 : threads * kTasksOfThread;
    const int64_t column_tasks = std::min(columns, wanted);
    const int64_t row_tasks = std::clamp<int64_t>(wanted / std::max<int64_t>(1, column_tasks), 1,
                                                  std::max<int64_t>(1, tiles));
    auto plan = make_plan([=](const RunArgs& args) {
      const uint8_t* a = input_of<uint8_t>(args, 0);
      if (copies) {
        auto* copy = reinterpret_cast<uint8_t*>(args.workspace);
        parallel(static_cast<size_t>(m), 16, [&](size_t begin, size_t end) {
          for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
            std::memcpy(copy + i * row_bytes, a + i * k, static_cast<size_t>(k));
            std::memset(copy + i * row_bytes + k, 0, static_cast<size_t>(row_bytes - k));
          }
        });
        a = copy;
      }
      const auto* factors = reinterpret_cast<const float*>(args.packed + weight_bytes);
      const float* biases = factors + columns * kQuantPanel;
      const auto* starts = reinterpret_cast<const int32_t*>(biases + columns * kQuantPanel);
      const size_t element = epilogue.floats ? sizeof(float) : 1;
      static constexpr int64_t kOneRun = 0;
      parallel_tasks(static_cast<size_t>(column_tasks * row_tasks), [&](size_t task) {
        const int64_t part = static_cast<int64_t>(task) % column_tasks;
        const int64_t band = static_cast<int64_t>(task) / column_tasks;
        QuantTileArgs t;
        t.runs = &kOneRun, t.run_count = 1, t.run_length = steps * 4;
        t.pixel_step = row_bytes;
        t.epilogue = &epilogue;
        t.out_pixel = n, t.out_block = 16;
        for (int64_t p = columns * part / column_tasks; p < columns * (part + 1) / column_tasks;
             ++p) {
          const int64_t width = std::min(kQuantPanel, n - p * kQuantPanel);
          const int64_t blocks = width > 16 ? 2 : 1;
          t.weights = reinterpret_cast<const int8_t*>(args.packed) + p * kQuantPanel * steps * 4;
          t.scale = factors + p * kQuantPanel, t.bias = biases + p * kQuantPanel;
          t.start = starts + p * kQuantPanel;
          t.lanes = width - (blocks - 1) * 16;
          for (int64_t i = tiles * band / row_tasks; i < tiles * (band + 1) / row_tasks; ++i) {
            const int64_t row = m * i / tiles, rows = m * (i + 1) / tiles - row;
            const int64_t to = row * n + p * kQuantPanel;
            t.in = a + row * row_bytes;
            t.residual = residual ? input_of<uint8_t>(args, 3) + to : nullptr;
            t.out = args.outputs[0] + static_cast<size_t>(to) * element;
            find_quant_tile(0, rows, blocks)(t);
          }
        }
      });
    });
    if (copies) plan->workspace_bytes = static_cast<size_t>(m * row_bytes);
    plan->in_place_input = residual && !epilogue.floats ? 3 : -1;
    return plan;
  }

 private:
  int64_t panels() const { return ceil_div(n_, kQuantPanel); }
  size_t weight_bytes() const { return static_cast<size_t>(panels() * kQuantPanel * steps_ * 4); }

  int64_t k_, steps_, n_;
  quantize::Requantize requantize_;
};

}  // namespace

Result<QuantizedMatMulCase> QuantizedMatMulCase::of(const OpContext& context) {
  const Shape &a = context.inputs[0].shape, &b = context.inputs[1].shape;
  QuantizedMatMulCase c;
  c.transposed = context.int_attr("transB") != 0;
  if (a.empty() || b.size() != 2 || a.back() != b[c.transposed ? 1 : 0]) {
    return fail(Code::shape_mismatch, "{}: inputs are {} and {}, inner extents differ",
                context.label(), to_string(a), to_string(b));
  }
  c.k = a.back(), c.n = b[c.transposed ? 0 : 1];
  c.m = 1;
  for (size_t i = 0; i + 1 < a.size(); ++i) c.m *= a[i];
  if (context.has_input(2) && context.inputs[2].has_shape &&
      context.inputs[2].shape != Shape{c.n}) {
    return fail(Code::shape_mismatch, "{}: the bias is {}, expected {}", context.label(),
                to_string(context.inputs[2].shape), c.n);
  }
  ANYNPU_ASSIGN(c.requantize, quantize::Requantize::of(context, c.n));
  c.weights = reinterpret_cast<const int8_t*>(context.inputs[1].constant.data());
  if (context.has_input(2))
    c.bias = reinterpret_cast<const float*>(context.inputs[2].constant.data());
  return c;
}

int32_t QuantizedMatMulCase::start(int64_t column) const {
  int64_t sum = 0;
  for (int64_t i = 0; i < k; ++i) sum += weight(i, column);
  return static_cast<int32_t>(-requantize.x_zero * sum);
}

Status can_run_quantized_matmul(const OpContext& context) {
  ANYNPU_TRY(check_vnni());
  return check_matrix(context);
}

Result<std::unique_ptr<Kernel>> create_quantized_matmul(const OpContext& context) {
  ANYNPU_ASSIGN(const QuantizedMatMulCase c, QuantizedMatMulCase::of(context));
  return std::unique_ptr<Kernel>(std::make_unique<QuantizedMatMul>(c));
}

PlanResult plan_quantized_matmul_reference(const OpContext& context) {
  ANYNPU_TRY(check_matrix(context));
  ANYNPU_ASSIGN(QuantizedMatMulCase c, QuantizedMatMulCase::of(context));
  const bool residual = context.has_input(3), biased = context.has_input(2);
  return make_plan([=](const RunArgs& args) {
    QuantizedMatMulCase at = c;
    at.weights = input_of<int8_t>(args, 1);
    const QuantEpilogue epilogue = c.requantize.epilogue();
    for (int64_t j = 0; j < c.n; ++j) {
      const float factor = c.requantize.factor(j);
      const float added = biased ? c.requantize.added(input_of<float>(args, 2)[j]) : 0;
      for (int64_t i = 0; i < c.m; ++i) {
        int64_t sum = at.start(j);
        for (int64_t k = 0; k < c.k; ++k)
          sum += int64_t{input_of<uint8_t>(args, 0)[i * c.k + k]} * at.weight(k, j);
        quantize::store_quantized(epilogue, static_cast<int32_t>(sum), factor, added,
                                  residual ? input_of<uint8_t>(args, 3) : nullptr, args.outputs[0],
                                  i * c.n + j);
      }
    }
  });
}

void add_quantized_matmul_schema(Registry& registry) {
  registry.add(quantize::quantized_schema(
      "QuantizedMatMul", {"A", "B", "C"}, {{"transB", AttrKind::i, int64_t{0}}},
      OpTraits::general().with(CostClass::product), quantized_matmul_rule));
}

}  // namespace anynpu::ops::gemm
