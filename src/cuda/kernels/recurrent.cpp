// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: one thread block per sequence and direction, with the hidden units spread over
// its threads and one barrier per phase of a step.
#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/rnn/rnn.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::rnn::Cell;
using ops::rnn::RnnShape;

constexpr unsigned kThreads = 128;

// Each function of ONNX with its constants a and b.
constexpr struct {
  std::string_view name;
  const char* text;
} kFunctions[] = {
    {"Sigmoid", "1 / (1 + exp(-v))"},
    {"Tanh", "tanh(v)"},
    {"Relu", "v > 0 ? v : (C)0"},
    {"Affine", "a * v + b"},
    {"LeakyRelu", "v < 0 ? a * v : v"},
    {"ThresholdedRelu", "v > a ? v : (C)0"},
    {"ScaledTanh", "a * tanh(b * v)"},
    {"HardSigmoid", "fmin(fmax(a * v + b, (C)0), (C)1)"},
    {"Elu", "v < 0 ? a * expm1(v) : v"},
    {"Softsign", "v / (1 + fabs(v))"},
    {"Softplus", "fmax(v, (C)0) + log1p(exp(-fabs(v)))"},
};

// f0, f1 ...: the functions of a cell, for direction d.
std::string functions_of(const RnnShape& s) {
  std::string text;
  for (size_t f = 0; f < s.per_direction; ++f) {
    text += format("__device__ C f{}(int d, C v) {{\n", f);
    if (s.clip > 0 && f != 2)  // the output of an LSTM's cell is not clipped
      text += format("  v = fmin(fmax(v, (C){}), (C){});\n", literal(-s.clip), literal(s.clip));
    for (int64_t d = 0; d < s.directions; ++d) {
      const ops::rnn::CellFunction& one = s.function(d, f);
      for (const auto& [name, code] : kFunctions) {
        if (name != one.name) continue;
        text += format(
            "  if (d == {}) {{ const C a = (C){}, b = (C){}; (void)a; (void)b; return {}; }}\n", d,
            literal(one.alpha), literal(one.beta), code);
      }
    }
    text += "  return v;\n}\n";
  }
  return text;
}

constexpr const char* kRnn = R"(
      for (int j = threadIdx.x; j < H; j += blockDim.x)
        next[j] = f0(d, gate_x(d, j, px) + gate_h(d, j, h));)";
constexpr const char* kGru = R"(
      for (int j = threadIdx.x; j < H; j += blockDim.x) {
        z[j] = f0(d, gate_x(d, j, px) + gate_h(d, j, h));
        const C r = f0(d, gate_x(d, H + j, px) + gate_h(d, H + j, h));
        reset[j] = @later ? r : r * h[j];
      }
      __syncthreads();
      for (int j = threadIdx.x; j < H; j += blockDim.x) {
        const C inner = @later ? reset[j] * gate_h(d, 2 * H + j, h) : gate_h(d, 2 * H + j, reset);
        next[j] = (1 - z[j]) * f1(d, gate_x(d, 2 * H + j, px) + inner) + z[j] * h[j];
      })";
constexpr const char* kLstm = R"(
      for (int j = threadIdx.x; j < H; j += blockDim.x) {
        const C old = z[j];
        const C in = f0(d, gate_x(d, j, px) + gate_h(d, j, h) + @peephole(d, 0, j) * old);
        const C forget = @input_forget ? 1 - in : f0(d, gate_x(d, 2 * H + j, px) +
            gate_h(d, 2 * H + j, h) + @peephole(d, 2, j) * old);
        const C cell = forget * old + in * f1(d, gate_x(d, 3 * H + j, px) + gate_h(d, 3 * H + j, h));
        const C out = f0(d, gate_x(d, H + j, px) + gate_h(d, H + j, h) + @peephole(d, 1, j) * cell);
        z[j] = cell;
        next[j] = out * f2(d, cell);
      })";

// z holds the update gate of a GRU, or the cell of an LSTM.
constexpr const char* kBody = R"(
  const i64 b = i % BATCH; const int d = (int)(i / BATCH);
  C* const h = (C*)work + i * 4 * H; C* const next = h + H; C* const z = next + H;
  C* const reset = z + H; (void)reset;
  const i64 state = @batch_first ? (b * DIRECTIONS + d) * H : (d * BATCH + b) * H;
  for (int j = threadIdx.x; j < H; j += blockDim.x) {
    h[j] = @initial_h; z[j] = @initial_c;
  }
  i64 length = @length; length = length < 0 ? 0 : length > TIME ? TIME : length;
  __syncthreads();
  for (i64 step = 0; step < TIME; ++step) {
    const bool live = step < length;
    const i64 t = live && (@reverse || d == 1) ? length - 1 - step : step;
    const Weights w = {@parameters}; (void)w;
    if (live) {
      const T0* px = x0 + (@batch_first ? b * TIME + t : t * BATCH + b) * INPUT; (void)px;
#define gate_x(d, gate, px) sum_x(w, d, gate, px)
#define gate_h(d, gate, h) sum_h(w, d, gate, h)
@cell
      __syncthreads();
      for (int j = threadIdx.x; j < H; j += blockDim.x) h[j] = next[j];
      __syncthreads();
    }
    const i64 at = (@batch_first ? (b * TIME + t) * DIRECTIONS + d : (t * DIRECTIONS + d) * BATCH + b) * H;
    if (y0) for (int j = threadIdx.x; j < H; j += blockDim.x) store(y0[at + j], live ? h[j] : (C)0);
  }
  for (int j = threadIdx.x; j < H; j += blockDim.x) {
    @write_states
  }
)";

constexpr const char* kSums = R"(
#define H @hidden
#define TIME @time
#define BATCH @batch
#define INPUT @input
#define DIRECTIONS @directions
#define WIDE @wide
struct Weights { const T1* x; const T1* h; const T1* bias; const T1* peephole; };
__device__ C sum_x(const Weights& w, int d, int gate, const T0* x) {
  C s = w.bias ? (C)load(w.bias[d * 2 * WIDE + gate]) : (C)0;
  const T1* row = w.x + ((i64)d * WIDE + gate) * INPUT;
  for (int k = 0; k < INPUT; ++k) s += (C)load(row[k]) * (C)load(x[k]);
  return s;
}
__device__ C sum_h(const Weights& w, int d, int gate, const C* h) {
  C s = w.bias ? (C)load(w.bias[d * 2 * WIDE + WIDE + gate]) : (C)0;
  const T1* row = w.h + ((i64)d * WIDE + gate) * H;
  for (int k = 0; k < H; ++k) s += (C)load(row[k]) * h[k];
  return s;
}
)";

ops::PlanResult plan_recurrent(const OpContext& context) {
  ANYNPU_ASSIGN(const RnnShape s, ops::rnn::rnn_shape_of(context));
  const auto given = [&](size_t k, std::string_view text) {
    return context.has_input(k) ? std::string(text) : std::string("(C)0");
  };
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  const auto made = [&](size_t k) {
    return k < context.outputs.size() && context.outputs[k].present;
  };
  const auto number = [](int64_t value) { return format("{}", value); };
  const bool lstm = s.cell == Cell::lstm;
  const std::string cell =
      filled(s.cell == Cell::rnn ? kRnn
             : lstm              ? kLstm
                                 : kGru,
             {{"later", flag(s.linear_before_reset)},
              {"input_forget", flag(s.input_forget)},
              {"peephole", lstm && context.has_input(7) ? "peephole_of" : "no_peephole"}});
  std::string states;
  if (made(1)) states += "store(y1[state + j], h[j]); ";
  if (lstm && made(2)) states += "store(y2[state + j], z[j]);";
  ItemKernel kernel;
  kernel.before = filled(kSums, {{"hidden", number(s.hidden)},
                                 {"time", number(s.time)},
                                 {"batch", number(s.batch)},
                                 {"input", number(s.input)},
                                 {"directions", number(s.directions)},
                                 {"wide", number(s.wide())}}) +
                  functions_of(s) +
                  "#define peephole_of(d, g, j) (C)load(w.peephole[((d) * 3 + (g)) * H + (j)])\n"
                  "#define no_peephole(d, g, j) (C)0\n";
  kernel.body = filled(
      kBody, {{"batch_first", flag(s.batch_first)},
              {"initial_h", given(5, "(C)load(x5[state + j])")},
              {"initial_c", lstm ? given(6, "(C)load(x6[state + j])") : std::string("(C)0")},
              {"length", context.has_input(4) ? std::string("x4[b]") : std::string("TIME")},
              {"reverse", flag(s.reverse)},
              {"parameters", format("x1, x2, {}, {}", context.has_input(3) ? "x3" : "nullptr",
                                    lstm && context.has_input(7) ? "x7" : "nullptr")},
              {"cell", cell},
              {"write_states", states}});
  kernel.items = static_cast<size_t>(s.batch * s.directions);
  kernel.block_threads = kThreads;
  kernel.workspace_bytes = kernel.items * 4 * static_cast<size_t>(s.hidden) * sizeof(double);
  return plan_items(context, kernel);
}

}  // namespace

void add_recurrent(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"RNN", "GRU", "LSTM"})
    kernels.push_back(item_kernel(op, ops::kFloats, ops::create_plain<plan_recurrent>));
}

}  // namespace anynpu::device::cuda
