// SPDX-License-Identifier: Apache-2.0
// FlashAttention on register tiles, in float32. A task takes up to 64 query rows that share a KV
// head (grouped-query attention: rows of all heads of the group, so a decode step is one task per
// KV head) and loops over tiles of keys with online softmax: a running maximum and sum for each
// row.
#include <algorithm>
#include <cmath>

#include "ops/attention/flash_task.h"
#include "ops/parallel.h"

namespace anynpu::ops::attention {

void FlashTask::run() const {
  const FlashShape& a = p.a;
  std::fill_n(scratch + p.zeros_at, 32, 0.0f);
  std::fill_n(results(0), panels() * kLanes * p.value_step, 0.0f);
  transpose_queries();
  int64_t begin = sample.keys, end = 0;
  KeyRange ranges[kLanes * kPanels];
  for (int64_t i = 0; i < panels() * kLanes; ++i) {
    ranges[i] = i < count ? a.keys_of(sample, b, row(i)) : KeyRange{};
    const bool sinks = a.has[kFlashSink] && i < count && keys_begin == 0;
    row_max()[i] = sinks ? input_of<float>(args, kFlashSink)[head(i)] : -INFINITY;
    row_sum()[i] = sinks ? 1 : 0;
    if (i >= count || ranges[i].last <= ranges[i].first) continue;
    begin = std::min(begin, ranges[i].first);
    end = std::max(end, ranges[i].last);
  }
  begin = std::max(begin, keys_begin), end = std::min(end, keys_end);
  const CacheReader keys(a, a.key, args), values(a, a.value, args);
  for (int64_t at = begin; at < end; at += kKeyTile) {
    const int64_t n = std::min(kKeyTile, end - at);
    score(keys, at, n);
    for (int64_t panel = 0; panel < panels(); ++panel)
      online_softmax(panel, at, n, ranges + panel * kLanes);
    add_values(values, at, n);
  }
  if (!part) return store();
  for (int64_t i = 0; i < count; ++i) {
    float* to = part + i * (p.value_step + 2);
    to[0] = row_max()[i], to[1] = row_sum()[i];
    std::copy_n(results(i), p.value_step, to + 2);
  }
}

void FlashTask::combine(const float* parts, int64_t count_of_parts, int64_t step) const {
  for (int64_t i = 0; i < count; ++i) {
    const float* row_part = parts + i * (p.value_step + 2);
    float top = -INFINITY, l = 0;
    for (int64_t s = 0; s < count_of_parts; ++s) top = std::max(top, row_part[s * step]);
    std::fill_n(results(i), p.value_step, 0.0f);
    for (int64_t s = 0; s < count_of_parts && top != -INFINITY; ++s) {
      const float* one = row_part + s * step;
      const float factor = std::exp(one[0] - top);
      l += one[1] * factor;
      for (int64_t d = 0; d < p.value_step; ++d) results(i)[d] += one[2 + d] * factor;
    }
    row_max()[i] = top, row_sum()[i] = l;
  }
  store();
}

void FlashTask::transpose_queries() const {
  const FlashShape& a = p.a;
  const int64_t wide = a.size + a.rope_size, batch = a.packed_rows ? 0 : b;
  float* line = scratch + p.line_at;
  std::fill_n(scratch + p.queries_at, panels() * wide * kLanes, 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t r = sample.first_row + row(i);
    Elements{p.inputs[0].dtype, args.inputs[0]}.read(a.q.at(batch, head(i), r), a.size, line);
    if (a.rope_size > 0) {
      Elements{p.inputs[kFlashQueryRope].dtype, args.inputs[kFlashQueryRope]}.read(
          a.rope_q.at(batch, head(i), r), a.rope_size, line + a.size);
    }
    float* to = scratch + p.queries_at + i / kLanes * wide * kLanes + i % kLanes;
    for (int64_t d = 0; d < wide; ++d) to[d * kLanes] = line[d];
  }
}

const float* FlashTask::rows_of(const CacheReader& cache, int64_t size, int64_t at, int64_t n,
                                float* to, int64_t& step) const {
  if (const float* there = cache.direct(b, g, sample.first_key + at, n, step)) return there;
  for (int64_t j = 0; j < n; ++j) {
    prefetch(cache, at + j);
    cache.read(b, g, sample.first_key + at + j, to + j * size);
  }
  step = size;
  return to;
}

void FlashTask::prefetch(const CacheReader& cache, int64_t key) const {
  constexpr int64_t kDistance = 24;
  if (key + kDistance < sample.keys) cache.prefetch(b, g, sample.first_key + key + kDistance);
}

void FlashTask::score(const CacheReader& keys, int64_t at, int64_t n) const {
  const FlashShape& a = p.a;
  int64_t step = 0;
  const float* k = rows_of(keys, a.size, at, n, scratch + p.keys_at, step);
  multiply(k, step, a.size, 0, n, false);
  if (a.rope_size == 0) return;
  const CacheReader rope(a, a.rope, args);
  const float* second = rows_of(rope, a.rope_size, at, n, scratch + p.rope_at, step);
  multiply(second, step, a.rope_size, a.size, n, true);
}

void FlashTask::multiply(const float* k, int64_t step, int64_t size, int64_t from, int64_t n,
                         bool add) const {
  const int64_t wide = p.a.size + p.a.rope_size;
  for (int64_t panel = 0; panel < panels(); ++panel) {
    products().by_columns(k, step, size, n, scratch + p.queries_at + (panel * wide + from) * kLanes,
                          scores(panel), add);
  }
}

void FlashTask::add_values(const CacheReader& values, int64_t at, int64_t n) const {
  const Panels shape{n, p.a.value_size, p.tiles->panel_blocks};
  float* packed = scratch + p.values_at;
  for (int64_t j = 0; j < n; ++j) {
    int64_t step = 0;
    prefetch(values, at + j);
    const int64_t token = sample.first_key + at + j;
    const float* line = values.direct(b, g, token, 1, step);
    if (!line) values.read(b, g, token, scratch + p.line_at);
    TileProducts::pack_row(shape, j, line ? line : scratch + p.line_at, packed);
  }
  products().by_panels(scratch + p.weights_at, kKeyTile, count, shape, packed, results(0),
                       p.value_step);
}

void FlashTask::store() const {
  const FlashShape& a = p.a;
  const DType type = p.outputs[0].dtype;
  const int64_t batch = a.packed_rows ? 0 : b;
  for (int64_t i = 0; i < count; ++i) {
    const float l = row_sum()[i];
    float* result = results(i);
    for (int64_t d = 0; d < a.value_size; ++d) result[d] = l == 0 ? 0 : result[d] / l;
    const int64_t r = sample.first_row + row(i);
    std::byte* to =
        args.outputs[0] + static_cast<size_t>(a.y.at(batch, head(i), r)) * size_of(type);
    if (type == DType::f32)
      std::copy_n(result, a.value_size, reinterpret_cast<float*>(to));
    else
      narrow(type, result, to, static_cast<size_t>(a.value_size));
    const auto stat = [&](size_t output, float value) {
      if (output < args.outputs.size() && args.outputs[output])
        output_of<float>(args, output)[a.stats.at(batch, head(i), r)] = value;
    };
    stat(kFlashLogSumExp, l == 0 ? INFINITY : row_max()[i] + std::log(l));
    stat(kFlashMax, l == 0 ? -3.0e38f : row_max()[i]);
    stat(kFlashSum, l);
  }
}

size_t FlashWork::lay_out() {
  size_t end = 0;
  const auto place = [&](int64_t floats) {
    const size_t at = end;
    end += static_cast<size_t>(round_up(floats, kLanes));
    return at;
  };
  const int64_t wide = a.size + a.rope_size;
  const int64_t panels = std::clamp<int64_t>(ceil_div(a.rows * a.group(), kLanes), 1, kPanels);
  value_step = round_up(a.value_size, 16);
  zeros_at = place(32);
  queries_at = place(panels * wide * kLanes);
  keys_at = place(kKeyTile * a.size);
  rope_at = place(kKeyTile * a.rope_size);
  scores_at = place(panels * kKeyTile * kLanes);
  weights_at = place(panels * kKeyTile * kLanes);
  values_at = place(kKeyTile * value_step);
  line_at = place(std::max({wide, a.value_size, kKeyTile}));
  results_at = place(panels * kLanes * value_step);
  stats_at = place(2 * kLanes * kPanels);
  return end;
}

namespace {

class FlashPlan final : public KernelPlan {
 public:
  FlashWork work;
  size_t parts_at = 0;

  Status run(const RunArgs& args) const override {
    const FlashShape& a = work.a;
    auto* samples = reinterpret_cast<FlashSample*>(args.workspace);
    ANYNPU_TRY(read_samples(a, args, work.label, samples));
    clear_outputs(a, work.outputs, args);
    if (work.splits > 1) return run_split(args, samples);
    const int64_t row_tasks = work.tasks_of_head();
    parallel_slots(thread_scratch_count, static_cast<size_t>(a.batch * a.kv_heads * row_tasks),
                   [&](size_t task, size_t slot) {
                     const auto i = static_cast<int64_t>(task);
                     const FlashTask made =
                         task_of(args, samples, i / row_tasks, i % row_tasks, slot);
                     if (made.count > 0) made.run();
                   });
    return {};
  }

 private:
  FlashTask task_of(const RunArgs& args, const FlashSample* samples, int64_t head, int64_t row_task,
                    size_t slot) const {
    constexpr int64_t kRows = FlashWork::kLanes * FlashWork::kPanels;
    const FlashShape& a = work.a;
    const FlashSample& sample = samples[head / a.kv_heads];
    return {work,
            args,
            sample,
            head / a.kv_heads,
            head % a.kv_heads,
            row_task * kRows,
            std::min(kRows, sample.rows * a.group() - row_task * kRows),
            reinterpret_cast<float*>(thread_scratch(args, slot))};
  }

  // Split KV (flash decoding), for few rows and many keys: partial results, then their combination.
  Status run_split(const RunArgs& args, const FlashSample* samples) const {
    const FlashShape& a = work.a;
    auto* parts = reinterpret_cast<float*>(args.workspace + parts_at);
    const int64_t heads = a.batch * a.kv_heads, step = work.part_floats();
    parallel_slots(thread_scratch_count, static_cast<size_t>(heads * work.splits),
                   [&](size_t number, size_t slot) {
                     const auto i = static_cast<int64_t>(number);
                     FlashTask task = task_of(args, samples, i / work.splits, 0, slot);
                     const int64_t length =
                         round_up(ceil_div(task.sample.keys, work.splits), FlashWork::kKeyTile);
                     task.keys_begin = i % work.splits * length;
                     task.keys_end = task.keys_begin + length;
                     task.part = parts + i * step;
                     if (task.count > 0) task.run();
                   });
    parallel_slots(thread_scratch_count, static_cast<size_t>(heads),
                   [&](size_t number, size_t slot) {
                     const auto i = static_cast<int64_t>(number);
                     const FlashTask task = task_of(args, samples, i, 0, slot);
                     if (task.count > 0)
                       task.combine(parts + i * work.splits * step, work.splits, step);
                   });
    return {};
  }
};

template <Isa isa>
PlanResult plan_flash(const OpContext& context) {
  auto plan = std::make_unique<FlashPlan>();
  FlashWork& work = plan->work;
  ANYNPU_ASSIGN(work.a, flash_shape_of(context));
  work.inputs = context.inputs, work.outputs = context.outputs;
  work.label = context.label();
  work.tiles = &tile_set(isa);
  work.exp = row_set(isa).find(RowFunction::exp);
  const size_t floats = work.lay_out();
  plan->workspace_bytes = static_cast<size_t>(work.a.batch) * sizeof(FlashSample);
  const auto threads = static_cast<int64_t>(context.target.threads);
  const int64_t heads = work.a.batch * work.a.kv_heads;
  if (work.tasks_of_head() == 1 && heads > 0 && heads < threads) {
    constexpr int64_t kLeast = 512;  // keys of a task
    work.splits = std::clamp<int64_t>(work.a.columns / kLeast, 1, ceil_div(threads, heads));
  }
  if (work.splits > 1) {
    plan->parts_at = round_up(plan->workspace_bytes, kBufferAlignment);
    plan->workspace_bytes =
        plan->parts_at +
        static_cast<size_t>(heads * work.splits * work.part_floats()) * sizeof(float);
  }
  const auto tasks = static_cast<size_t>(heads * work.tasks_of_head() * work.splits);
  plan->add_thread_scratch(std::clamp<size_t>(tasks, 1, context.target.threads),
                           floats * sizeof(float));
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

template <Isa isa>
Status can_run_flash(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  const auto takes = [&](const Operand& operand) {
    return !operand.present || kTiledTypes.has(operand.dtype);
  };
  for (size_t input : {size_t{kFlashQuery}, size_t{kFlashBias}, size_t{kFlashQueryRope},
                       size_t{kFlashKeyRope}, size_t{kFlashGradY}, size_t{kFlashResult}}) {
    if (input < context.inputs.size() && !takes(context.inputs[input]))
      return fail(Code::unsupported_dtype, "input {} is {}", input,
                  name_of(context.inputs[input].dtype));
  }
  const DType cache = context.inputs[kFlashKey].dtype;
  if (!takes(context.outputs[0]) || cache == DType::f64)
    return fail(Code::unsupported_dtype, "Y is {} and K {}", name_of(context.outputs[0].dtype),
                name_of(cache));
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_flash(const OpContext& context) {
  return create_plain<plan_flash<isa>>(context);
}

template Status can_run_flash<Isa::avx512>(const OpContext&);
template Status can_run_flash<Isa::avx2>(const OpContext&);
template Status can_run_flash<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_flash<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_flash<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_flash<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::attention
