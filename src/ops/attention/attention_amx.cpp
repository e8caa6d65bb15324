// SPDX-License-Identifier: Apache-2.0
// Attention on tiles: for a head, keys and values are packed as the right sides of two products,
// and blocks of query rows go through scores, softmax and context while all of it stays in the
// second-level cache. Scores and softmax are float32; weights are rounded to bfloat16 for the
// second product, results once more.
#include "ops/attention/attention_amx.h"

#include <algorithm>
#include <vector>

#include "base/align.h"
#include "ops/amx/product.h"
#include "ops/attention/attention.h"
#include "ops/attention/score_rows.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::attention {

using namespace amx;

namespace {

constexpr int64_t kStepBytes = kDepth * 2;  // of a row

// A matrix of bfloat16 in whole steps, padded with zeros, as the left side of a product.
struct LeftRows {
  int64_t steps = 0;

  int64_t row_elements() const { return steps * kDepth; }
  BF16* row(std::byte* rows, int64_t i) const {
    return reinterpret_cast<BF16*>(rows) + i * row_elements();
  }
  void describe(const std::byte* rows, Job& job) const {
    job.a = rows;
    job.row_bytes = steps * kStepBytes;
    job.panel_bytes = kPanel * job.row_bytes;
  }
};

class AmxAttentionPlan final : public KernelPlan {
 public:
  AmxAttentionPlan(const Engine& engine, const OpContext& context, const AttentionShape& shape)
      : engine_(engine),
        a_(shape),
        score_rows_(context, a_, check_isa(Isa::avx512).ok() ? Isa::avx512 : Isa::baseline),
        keys_{a_.size, a_.columns},
        values_{a_.columns, a_.value_size},
        queries_{keys_.steps()},
        weights_{values_.steps()} {
    if (element_count(context.outputs[0].shape) == 0) a_.batch = 0;
    for (int64_t step = 0; step < std::max(keys_.steps(), values_.steps()); ++step)
      step_at_.push_back(step * kStepBytes);
    constexpr int64_t kScoreBytes = 256 << 10;  // of a block
    const int64_t row_panels = std::max<int64_t>(1, ceil_div(a_.rows, kPanel));
    const int64_t score_panels = kScoreBytes / (keys_.panels() * kBlockSums * 4);
    block_panels_ = std::clamp<int64_t>(score_panels, 1, row_panels);
    const auto threads = static_cast<int64_t>(context.target.threads);
    const int64_t heads = std::max<int64_t>(1, a_.batch * a_.heads);
    task_panels_ = ceil_div(row_panels, std::clamp<int64_t>(4 * threads / heads, 1, row_panels));
    block_panels_ = std::min(block_panels_, task_panels_);
    lay_out(context, threads);
  }

  Status run(const RunArgs& args) const override {
    float* const zeros = reinterpret_cast<float*>(args.workspace);
    std::fill_n(zeros, values_.panels() * kPanel, 0.0f);
    const BF16* const k = reinterpret_cast<const BF16*>(
        join_present(a_, a_.key, args, args.workspace + present_.key_at));
    const BF16* const v = reinterpret_cast<const BF16*>(
        join_present(a_, a_.value, args, args.workspace + present_.value_at));
    const int64_t pieces = ceil_div(a_.rows, task_panels_ * kPanel);
    parallel_slots(thread_scratch_count, static_cast<size_t>(a_.batch * a_.heads * pieces),
                   [&](size_t task, size_t slot) {
                     const auto i = static_cast<int64_t>(task);
                     const int64_t head = i / pieces, first = i % pieces * task_panels_ * kPanel;
                     std::byte* const scratch = thread_scratch(args, slot);
                     pack(k, v, head, scratch);
                     const int64_t end = std::min(a_.rows, first + task_panels_ * kPanel);
                     for (int64_t row = first; row < end; row += block_panels_ * kPanel)
                       attend(args, head, row, std::min(end - row, block_panels_ * kPanel),
                              scratch);
                   });
    return {};
  }

 private:
  // Bytes, from the begin of a thread's scratch.
  void lay_out(const OpContext& context, int64_t threads) {
    int64_t end = 0;
    const auto place = [&](int64_t bytes) {
      const int64_t at = end;
      end += round_up(bytes, kStepBytes);
      return at;
    };
    const int64_t rows = block_panels_ * kPanel;
    keys_at_ = place(keys_.elements() * 2);
    values_at_ = place(values_.elements() * 2);
    queries_at_ = place(rows * queries_.row_elements() * 2);
    sums_at_ = place(block_panels_ * keys_.panels() * kBlockSums * 4);
    line_at_ = place(keys_.panels() * kPanel * 4);
    weights_at_ = place(rows * weights_.row_elements() * 2);
    mask_at_ = place(static_cast<int64_t>(score_rows_.mask_floats()) * 4);
    present_ = present_workspace(context, a_, static_cast<size_t>(values_.panels() * kPanel * 4));
    workspace_bytes = present_.end;
    add_thread_scratch(static_cast<size_t>(threads), static_cast<size_t>(end));
  }

  void pack(const BF16* k, const BF16* v, int64_t head, std::byte* scratch) const {
    const int64_t b = head / a_.heads, h = head % a_.heads / a_.group();
    for (int64_t panel = 0; panel < keys_.panels(); ++panel) {
      keys_.pack_lines(panel, k + a_.key.read.at(b, h, 0), a_.key.read.row,
                       reinterpret_cast<BF16*>(scratch + keys_at_));
    }
    for (int64_t panel = 0; panel < values_.panels(); ++panel) {
      values_.pack_rows(engine_, panel, v + a_.value.read.at(b, h, 0), a_.value.read.row,
                        reinterpret_cast<BF16*>(scratch + values_at_));
    }
  }

  // The rows [row, row + count) of a head.
  void attend(const RunArgs& args, int64_t head, int64_t row, int64_t count,
              std::byte* scratch) const {
    const int64_t b = head / a_.heads, h = head % a_.heads;
    const int64_t limit = score_rows_.limit(args, b, row + count - 1);
    const BF16* const query = input_of<BF16>(args, 0) + a_.q.at(b, h, row);
    for (int64_t i = 0; i < count; ++i) {
      BF16* const to = queries_.row(scratch + queries_at_, i);
      std::copy_n(query + i * a_.q.row, a_.size, to);
      std::fill(to + a_.size, to + queries_.row_elements(), BF16{});
    }
    Epilogue epilogue;
    epilogue.bias = reinterpret_cast<const float*>(args.workspace);
    epilogue.out = output_of<BF16>(args, 0) + a_.y.at(b, h, row);
    epilogue.row_step = a_.y.row;
    epilogue.tile_step = kRows;
    epilogue.rows = count;
    epilogue.columns = a_.value_size;
    Job job;
    job.step_at = step_at_.data();
    job.row_panels = ceil_div(count, kPanel);
    job.epilogue = &epilogue;
    // Scores are left as sums.
    queries_.describe(scratch + queries_at_, job);
    job.b = reinterpret_cast<const BF16*>(scratch + keys_at_);
    job.b_panel = keys_.panel_elements();
    job.column_panels = ceil_div(limit, kPanel);
    job.steps = keys_.steps();
    job.last = false;
    job.sums = reinterpret_cast<float*>(scratch + sums_at_);
    engine_.multiply(job);
    for (int64_t i = 0; i < count; ++i) weigh(args, head, row + i, limit, job.sums, i, scratch);
    weights_.describe(scratch + weights_at_, job);
    job.b = reinterpret_cast<const BF16*>(scratch + values_at_);
    job.b_panel = values_.panel_elements();
    job.column_panels = values_.panels();
    job.steps = ceil_div(limit, kDepth);
    job.last = true;
    engine_.multiply(job);
  }

  // Row `i` of a block of sums, which is row `row` of its head, becomes weights.
  void weigh(const RunArgs& args, int64_t head, int64_t row, int64_t limit, const float* sums,
             int64_t i, std::byte* scratch) const {
    float* const line = reinterpret_cast<float*>(scratch + line_at_);
    const int64_t panels = ceil_div(limit, kPanel), whole = round_up(limit, kDepth);
    constexpr int64_t kTileSums = kRows * kRows;
    const float* from = sums + i / kPanel * panels * kBlockSums +
                        i % kPanel / kRows * 2 * kTileSums + i % kRows * kRows;
    for (int64_t panel = 0; panel < panels; ++panel, from += kBlockSums) {
      std::copy_n(from, kRows, line + panel * kPanel);
      std::copy_n(from + kTileSums, kRows, line + panel * kPanel + kRows);
    }
    score_rows_.weigh(args, head, row, limit, reinterpret_cast<float*>(scratch + mask_at_), line);
    BF16* const to = weights_.row(scratch + weights_at_, i);
    narrow(DType::bf16, line, reinterpret_cast<std::byte*>(to), static_cast<size_t>(limit));
    std::fill(to + limit, to + whole, BF16{});
  }

  const Engine& engine_;
  AttentionShape a_;
  ScoreRows score_rows_;
  PackedB keys_, values_;
  LeftRows queries_, weights_;
  std::vector<int64_t> step_at_;
  int64_t task_panels_ = 1, block_panels_ = 1;  // of rows: of a task, and at a time
  int64_t keys_at_ = 0, values_at_ = 0, queries_at_ = 0, sums_at_ = 0, line_at_ = 0;
  int64_t weights_at_ = 0, mask_at_ = 0;
  PresentWorkspace present_;  // in the workspace, which begins with a bias of zeros
};

template <const Engine& (*engine)()>
PlanResult plan_attention(const OpContext& context) {
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  return std::unique_ptr<KernelPlan>(std::make_unique<AmxAttentionPlan>(engine(), context, a));
}

}  // namespace

Status check_amx_attention(const OpContext& context) {
  ANYNPU_TRY(can_run_tiled_attention<Isa::baseline>(context));
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  if (a.key.type != DType::bf16 || a.value.type != DType::bf16) {
    return fail(Code::unsupported_dtype, "K is {} and V is {}, takes bfloat16", name_of(a.key.type),
                name_of(a.value.type));
  }
  return {};
}

Status can_run_amx_attention(const OpContext& context) {
  ANYNPU_TRY(check_amx());
  return check_amx_attention(context);
}

template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_amx_attention(const OpContext& context) {
  return create_plain<plan_attention<engine>>(context);
}

template Result<std::unique_ptr<Kernel>> create_amx_attention<amx_engine>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_amx_attention<software_engine>(const OpContext&);

}  // namespace anynpu::ops::attention
