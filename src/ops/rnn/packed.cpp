// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM on matrix products: the inputs of many steps times W at once, then step by step
// the states of all sequences times R, and the cell by row functions. X is laid out in the order of
// the steps first, so that directions, lengths and layouts differ only in that copy. Large steps
// are split over threads inside the products, small ones by direction and sequences.
#include "ops/gemm/packed.h"

#include <algorithm>
#include <array>

#include "base/align.h"
#include "ops/parallel.h"
#include "ops/rnn/rnn.h"
#include "ops/simd/row_math.h"
#include "ops/simd/rows.h"

namespace anynpu::ops::rnn {

namespace {

using namespace row_math;

constexpr int64_t kChunkFloats = 1 << 18;     // products with W that wait in the cache
constexpr int64_t kStepWork = 1 << 20;        // multiplications of a step that threads share
constexpr int64_t kSpreadWork = 1 << 18;      // of all steps that tasks are made for
constexpr int64_t kFloatsPerRange = 1 << 12;  // of a cell, for each thread at least
enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

RowMap map_of(const CellFunction& function, Isa isa) {
  if (function.name == "Sigmoid") return row_set(isa).find(RowFunction::sigmoid);
  if (function.name == "Tanh") return row_set(isa).find(RowFunction::tanh);
  return function.name == "Relu" ? relu : nullptr;
}

// A matrix that is multiplied from the right: rows of W or R, packed once when it is constant, else
// into the workspace of each run.
struct Side {
  size_t input = kW;
  int64_t first = 0;  // element of the input
  int64_t n = 0, k = 0;
  bool constant = false;
  size_t place = 0;  // in bytes

  // Times `rows` rows from the left.
  gemm::GemmShape product(int64_t rows) const {
    gemm::GemmShape g;
    g.m = rows, g.n = n, g.k = k;
    g.transpose_b = true;
    g.batch_a = g.batch_b = {0};
    return g;
  }
};

// A GRU that resets the state before the product with R multiplies twice in a step.
bool resets_first(const RnnShape& s) { return s.cell == Cell::gru && !s.linear_before_reset; }

struct Sides {
  std::vector<Side> list;  // per direction: W, R, and R of the candidate where it stands apart
  size_t per_direction = 2;
  size_t packed_bytes = 0, run_bytes = 0;

  Sides(const OpContext& context, const RnnShape& s, Isa isa) {
    const bool apart = resets_first(s);
    per_direction = apart ? 3 : 2;
    for (int64_t d = 0; d < s.directions; ++d) {
      const int64_t r = d * s.wide() * s.hidden, gates = apart ? 2 * s.hidden : s.wide();
      add(context, isa, {kW, d * s.wide() * s.input, s.wide(), s.input});
      add(context, isa, {kR, r, gates, s.hidden});
      if (apart) add(context, isa, {kR, r + gates * s.hidden, s.hidden, s.hidden});
    }
  }

 private:
  void add(const OpContext& context, Isa isa, Side side) {
    side.constant = context.inputs[side.input].is_constant;
    size_t& bytes = side.constant ? packed_bytes : run_bytes;
    side.place = bytes;
    bytes += gemm::packed_right_bytes(side.product(1), isa);
    list.push_back(side);
  }
};

// The products for a number of sequences.
struct Products {
  int64_t rows = 0, steps = 1;                              // steps: that W multiplies at a time
  std::unique_ptr<KernelPlan> x, x_rest, gates, candidate;  // x_rest: of the last steps

  size_t workspace_bytes() const {
    size_t most = 0;
    for (const auto* plan : {&x, &x_rest, &gates, &candidate}) {
      if (*plan) most = std::max(most, (*plan)->workspace_bytes);
    }
    return most;
  }
};

class PackedRnnPlan final : public KernelPlan {
 public:
  PackedRnnPlan(const RnnShape& shape, Sides sides, Isa isa, size_t all_threads)
      : s_(shape), sides_(std::move(sides)), isa_(isa), threads_(all_threads) {
    for (const CellFunction& function : s_.functions) maps_.push_back(map_of(function, isa));
    const auto threads = static_cast<int64_t>(threads_);
    const int64_t step = s_.batch * s_.wide() * s_.hidden;
    const int64_t all = s_.time * s_.batch * s_.wide() * (s_.hidden + s_.input);
    step_threads_ = step >= kStepWork ? static_cast<size_t>(threads) : 1;
    if (step_threads_ == 1 && all >= kSpreadWork) {
      spread_ = true;
      const int64_t wanted = ceil_div(threads, s_.directions);
      rows_ = ceil_div(s_.batch, wanted);
    } else {
      rows_ = s_.batch;
    }
    groups_ = rows_ > 0 ? ceil_div(s_.batch, rows_) : 0;
    if (groups_ == 0) return;
    products_[0] = products_of(rows_);
    if (s_.batch % rows_ != 0) products_[1] = products_of(s_.batch % rows_);
    scratch_at_ = sides_.run_bytes / sizeof(float);
    scratch_floats_ = scratch_of({}, products_[0]).end;
    workspace_bytes = (scratch_at_ + scratch_floats_ * static_cast<size_t>(spread_ ? tasks() : 1)) *
                      sizeof(float);
  }

  Status run(const RunArgs& args) const override {
    if (groups_ == 0) return {};
    for (const Side& side : sides_.list) {
      if (side.constant) continue;
      gemm::pack_right_side(side.product(1), isa_,
                            reinterpret_cast<const float*>(args.inputs[side.input]) + side.first,
                            args.workspace + side.place);
    }
    float* scratch = reinterpret_cast<float*>(args.workspace) + scratch_at_;
    if (spread_) {
      parallel_tasks(static_cast<size_t>(tasks()), [&](size_t task) {
        run_task(args, static_cast<int64_t>(task), scratch + task * scratch_floats_);
      });
    } else {
      for (int64_t task = 0; task < tasks(); ++task) run_task(args, task, scratch);
    }
    return {};
  }

 private:
  // What a task needs, one after the other.
  struct Scratch {
    float *bias = nullptr,
          *state_bias = nullptr;           // of the gates; of a GRU's candidate before reset
    float *x = nullptr, *gates = nullptr;  // of `steps` steps
    float* product = nullptr;              // of the states with R
    float *h = nullptr, *c = nullptr;
    float* reset = nullptr;  // states after the reset; of an LSTM, tanh of its cells
    float* work = nullptr;   // of the products
    size_t end = 0;
  };
  Scratch scratch_of(float* from, const Products& p) const {
    Scratch r;
    const auto take = [&](float*& part, int64_t floats) {
      part = from ? from + r.end : nullptr;
      r.end += static_cast<size_t>(round_up(floats, 16));
    };
    take(r.bias, s_.wide());
    take(r.state_bias, s_.hidden);
    take(r.x, p.steps * p.rows * s_.input);
    take(r.gates, p.steps * p.rows * s_.wide());
    take(r.product, p.rows * s_.wide());
    take(r.h, p.rows * s_.hidden);
    take(r.c, p.rows * s_.hidden);
    take(r.reset, p.rows * s_.hidden);
    take(r.work, static_cast<int64_t>(p.workspace_bytes() / sizeof(float)));
    return r;
  }

  // A task is a group of sequences in one direction.
  int64_t tasks() const { return s_.directions * groups_; }

  Products products_of(int64_t rows) const {
    Products p;
    p.rows = rows;
    p.steps =
        std::clamp<int64_t>(kChunkFloats / (rows * s_.wide()), 1, std::max<int64_t>(s_.time, 1));
    const size_t all = tasks() == 1 ? threads_ : step_threads_;
    const auto plan = [&](gemm::GemmShape g, size_t threads) {
      return gemm::plan_packed_gemm(std::move(g), gemm::RightSide::packed, isa_, threads);
    };
    const auto from_x = [&](int64_t steps) {
      gemm::GemmShape g = sides_.list[0].product(steps * rows);
      g.has_c = true;
      g.c_column = 1;
      return plan(std::move(g), all);
    };
    p.x = from_x(p.steps);
    if (s_.time % p.steps != 0) p.x_rest = from_x(s_.time % p.steps);
    gemm::GemmShape g = sides_.list[1].product(rows);
    g.has_z = s_.cell != Cell::gru;
    p.gates = plan(std::move(g), step_threads_);
    if (resets_first(s_)) p.candidate = plan(sides_.list[2].product(rows), step_threads_);
    return p;
  }

  // One task on its way through time.
  struct Task {
    const RunArgs& args;
    const Products& products;
    Scratch scratch;
    int64_t direction = 0, first = 0;  // first: of its sequences
  };

  void run_task(const RunArgs& args, int64_t index, float* memory) const {
    const int64_t group = index % groups_;
    const Products& p = products_[(group + 1) * rows_ > s_.batch ? 1 : 0];
    const Task task{args, p, scratch_of(memory, p), index / groups_, group * rows_};
    const int64_t last = start(task);
    for (int64_t step = 0; step < last; step += p.steps) {
      const int64_t steps = std::min(p.steps, s_.time - step);
      for (int64_t i = 0; i < steps; ++i) take_x(task, step + i, i);
      multiply(task, steps == p.steps ? *p.x : *p.x_rest, 0, task.scratch.x, task.scratch.bias,
               nullptr, task.scratch.gates);
      for (int64_t i = 0; i < std::min(steps, last - step); ++i) {
        take_step(task, step + i, task.scratch.gates + i * p.rows * s_.wide());
      }
    }
    for (int64_t row = 0; row < p.rows; ++row) {
      const int64_t state = s_.state(task.direction, task.first + row);
      give(args, 1, state, task.scratch.h + row * s_.hidden);
      give(args, 2, state, task.scratch.c + row * s_.hidden);
    }
  }

  const float* input(const Task& task, size_t index, int64_t offset) const {
    if (index >= task.args.inputs.size() || !task.args.inputs[index]) return nullptr;
    return reinterpret_cast<const float*>(task.args.inputs[index]) + offset;
  }
  void give(const RunArgs& args, size_t output, int64_t offset, const float* row) const {
    if (output >= args.outputs.size() || !args.outputs[output]) return;
    std::copy_n(row, s_.hidden, reinterpret_cast<float*>(args.outputs[output]) + offset);
  }
  int64_t length(const Task& task, int64_t row) const {
    return sequence_length(s_, task.args, task.first + row);
  }
  // The place in time of a step of a sequence.
  int64_t time_of(const Task& task, int64_t step, int64_t length) const {
    return s_.backwards(task.direction) ? length - 1 - step : step;
  }

  // Biases, first states, and zeros behind the ends of sequences; returns the steps of the longest.
  int64_t start(const Task& task) const {
    const int64_t n = s_.hidden, wide = s_.wide();
    const Scratch& r = task.scratch;
    std::fill_n(r.bias, wide, 0.0f);
    std::fill_n(r.state_bias, n, 0.0f);
    if (const float* bias = input(task, kB, task.direction * 2 * wide)) {
      const bool apart = s_.cell == Cell::gru && s_.linear_before_reset;
      const int64_t joined = apart ? 2 * n : wide;
      std::copy_n(bias, wide, r.bias);
      for (int64_t i = 0; i < joined; ++i) r.bias[i] += bias[wide + i];
      if (apart) std::copy_n(bias + wide + joined, n, r.state_bias);
    }
    int64_t longest = 0;
    for (int64_t row = 0; row < task.products.rows; ++row) {
      const int64_t b = task.first + row, state = s_.state(task.direction, b);
      const auto begin = [&](size_t index, float* to) {
        const float* from = input(task, index, state);
        from ? std::copy_n(from, n, to) : std::fill_n(to, n, 0.0f);
      };
      begin(kInitialH, r.h + row * n);
      begin(kInitialC, r.c + row * n);
      const int64_t steps = length(task, row);
      longest = std::max(longest, steps);
      if (!task.args.outputs[0]) continue;
      for (int64_t t = steps; t < s_.time; ++t) {
        std::fill_n(reinterpret_cast<float*>(task.args.outputs[0]) + s_.y(task.direction, t, b), n,
                    0.0f);
      }
    }
    return longest;
  }

  // X of one step to place `i` of those that are multiplied together.
  void take_x(const Task& task, int64_t step, int64_t i) const {
    for (int64_t row = 0; row < task.products.rows; ++row) {
      float* to = task.scratch.x + (i * task.products.rows + row) * s_.input;
      const int64_t steps = length(task, row);
      if (step < steps) {
        const int64_t t = time_of(task, step, steps);
        std::copy_n(input(task, kX, s_.x(t, task.first + row)), s_.input, to);
      } else {
        std::fill_n(to, s_.input, 0.0f);
      }
    }
  }

  void multiply(const Task& task, const KernelPlan& plan, size_t side, const float* a,
                const float* c, const float* z, float* y) const {
    const Side& right =
        sides_.list[static_cast<size_t>(task.direction) * sides_.per_direction + side];
    const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(a), nullptr,
                                 reinterpret_cast<const std::byte*>(c),
                                 reinterpret_cast<const std::byte*>(z)};
    std::byte* outputs[] = {reinterpret_cast<std::byte*>(y)};
    // Products of these shapes cannot fail.
    (void)plan.run({inputs, outputs,
                    (right.constant ? task.args.packed : task.args.workspace) + right.place,
                    reinterpret_cast<std::byte*>(task.scratch.work)});
  }

  // body(row) for the sequences that have not ended.
  template <typename Body>
  void live_rows(const Task& task, int64_t step, const Body& body) const {
    const int64_t rows = task.products.rows;
    const int64_t least = step_threads_ == 1 ? rows : kFloatsPerRange / s_.wide();
    parallel(static_cast<size_t>(rows), static_cast<size_t>(least), [&](size_t begin, size_t end) {
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        if (step < length(task, row)) body(row);
      }
    });
  }

  void take_step(const Task& task, int64_t step, float* gates) const {
    const Scratch& r = task.scratch;
    const int64_t n = s_.hidden, wide = s_.wide();
    if (s_.cell == Cell::gru) {
      multiply(task, *task.products.gates, 1, r.h, nullptr, nullptr, r.product);
    } else {
      multiply(task, *task.products.gates, 1, r.h, nullptr, gates, gates);
    }
    if (resets_first(s_)) {
      live_rows(task, step, [&](int64_t row) {
        activate_gates(task, gates + row * wide, r.product + row * 2 * n);
        reset_state(gates + row * wide, r.h + row * n, r.reset + row * n);
      });
      multiply(task, *task.products.candidate, 2, r.reset, nullptr, nullptr, r.product);
    }
    live_rows(task, step, [&](int64_t row) {
      float *gate = gates + row * wide, *h = r.h + row * n;
      if (s_.cell == Cell::lstm) {
        lstm(task, gate, h, r.c + row * n, r.reset + row * n);
      } else if (s_.cell == Cell::rnn) {
        apply(task, 0, gate, n);
        std::copy_n(gate, n, h);
      } else if (s_.linear_before_reset) {
        activate_gates(task, gate, r.product + row * wide);
        reset_product(task, gate, r.product + row * wide + 2 * n);
        blend(task, gate, h);
      } else {
        add(n, r.product + row * n, gate + 2 * n);
        blend(task, gate, h);
      }
      const int64_t t = time_of(task, step, length(task, row));
      give(task.args, 0, s_.y(task.direction, t, task.first + row), h);
    });
  }

  // Function `which` of the cell, after the clip. NaN passes.
  void apply(const Task& task, size_t which, float* x, int64_t count) const {
    if (s_.clip > 0) {
      const auto most = static_cast<float>(s_.clip);
      each(count, [&]<typename V>(int64_t i) {
        const V value = at<V>(x + i), high = V{} + most, low = -high;
        const V least = value < low ? low : value;
        put<V>(x + i, least > high ? high : least);
      });
    }
    map(task, which)(x, x, count);
  }
  RowMap map(const Task& task, size_t which) const {
    return maps_[static_cast<size_t>(task.direction) * s_.per_direction + which];
  }

  // GRU, gates z, r and the candidate: `product` is that of the states with R.
  void activate_gates(const Task& task, float* gate, const float* product) const {
    add(2 * s_.hidden, product, gate);
    apply(task, 0, gate, 2 * s_.hidden);
  }
  void reset_state(const float* gate, const float* h, float* state) const {
    const float* reset = gate + s_.hidden;
    each(s_.hidden,
         [&]<typename V>(int64_t i) { put<V>(state + i, at<V>(reset + i) * at<V>(h + i)); });
  }
  void reset_product(const Task& task, float* gate, const float* product) const {
    const float *bias = task.scratch.state_bias, *reset = gate + s_.hidden;
    float* candidate = gate + 2 * s_.hidden;
    each(s_.hidden, [&]<typename V>(int64_t i) {
      put<V>(candidate + i,
             at<V>(candidate + i) + at<V>(reset + i) * (at<V>(product + i) + at<V>(bias + i)));
    });
  }
  void blend(const Task& task, float* gate, float* h) const {
    const int64_t n = s_.hidden;
    apply(task, 1, gate + 2 * n, n);
    each(n, [&]<typename V>(int64_t i) {
      const V z = at<V>(gate + i);
      put<V>(h + i, (1.0f - z) * at<V>(gate + 2 * n + i) + z * at<V>(h + i));
    });
  }

  // LSTM, gates i, o, f, c.
  void lstm(const Task& task, float* gate, float* h, float* c, float* cell_activation) const {
    const int64_t n = s_.hidden;
    float *in = gate, *out = gate + n, *forget = gate + 2 * n, *cell = gate + 3 * n;
    const float* peepholes = input(task, kPeepholes, task.direction * 3 * n);
    const auto peep = [&](int64_t g, float* x) {
      if (!peepholes) return;
      const float* p = peepholes + g * n;
      each(n, [&]<typename V>(int64_t i) {
        put<V>(x + i, at<V>(x + i) + at<V>(p + i) * at<V>(c + i));
      });
    };
    peep(0, in);
    apply(task, 0, in, n);
    if (s_.input_forget) {
      each(n, [&]<typename V>(int64_t i) { put<V>(forget + i, 1.0f - at<V>(in + i)); });
    } else {
      peep(2, forget);
      apply(task, 0, forget, n);
    }
    apply(task, 1, cell, n);
    each(n, [&]<typename V>(int64_t i) {
      put<V>(c + i, at<V>(forget + i) * at<V>(c + i) + at<V>(in + i) * at<V>(cell + i));
    });
    peep(1, out);
    apply(task, 0, out, n);
    map(task, 2)(c, cell_activation, n);
    each(n, [&]<typename V>(int64_t i) {
      put<V>(h + i, at<V>(out + i) * at<V>(cell_activation + i));
    });
  }

  RnnShape s_;
  Sides sides_;
  Isa isa_;
  size_t threads_;
  std::vector<RowMap> maps_;  // as RnnShape::functions
  std::array<Products, 2> products_;
  int64_t rows_ = 0, groups_ = 0;  // of sequences
  bool spread_ = false;            // tasks over threads
  size_t step_threads_ = 1;
  size_t scratch_at_ = 0, scratch_floats_ = 0;  // in floats
};

class PackedRnn final : public Kernel {
 public:
  PackedRnn(Sides sides, Isa isa) : sides_(std::move(sides)), isa_(isa) {}

  size_t packed_bytes() const override { return sides_.packed_bytes; }
  bool packs_input(size_t input) const override {
    return std::any_of(sides_.list.begin(), sides_.list.end(),
                       [&](const Side& side) { return side.input == input && side.constant; });
  }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    for (const Side& side : sides_.list) {
      if (!side.constant) continue;
      const std::byte* data = context.inputs[side.input].constant.data();
      gemm::pack_right_side(side.product(1), isa_,
                            reinterpret_cast<const float*>(data) + side.first,
                            packed.data() + side.place);
    }
    return {};
  }
  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const RnnShape s, rnn_shape_of(context));
    return std::unique_ptr<KernelPlan>(
        std::make_unique<PackedRnnPlan>(s, sides_, isa_, context.target.threads));
  }

 private:
  Sides sides_;
  Isa isa_;
};

}  // namespace

template <Isa isa>
Status can_run_packed_rnn(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const RnnShape s, rnn_shape_of(context));
  for (const CellFunction& function : s.functions) {
    if (map_of(function, isa)) continue;
    return fail(Code::unsupported_feature, "activation {}, takes Sigmoid, Tanh and Relu",
                function.name);
  }
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_packed_rnn(const OpContext& context) {
  ANYNPU_ASSIGN(const RnnShape s, rnn_shape_of(context));
  return std::unique_ptr<Kernel>(std::make_unique<PackedRnn>(Sides(context, s, isa), isa));
}

template Status can_run_packed_rnn<Isa::avx512>(const OpContext&);
template Status can_run_packed_rnn<Isa::avx2>(const OpContext&);
template Status can_run_packed_rnn<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_packed_rnn<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_packed_rnn<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_packed_rnn<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::rnn
