// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: what their kernels share.
#pragma once

#include <string_view>
#include <vector>

#include "ops/plain_kernel.h"
#include "ops/simd/isa.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::rnn {

enum class Cell : uint8_t { rnn, gru, lstm };

struct CellFunction {
  std::string_view name;  // of ONNX
  double (*f)(double x, double alpha, double beta) = nullptr;
  double alpha = 0, beta = 0;
  double operator()(double x) const { return f(x, alpha, beta); }
};

struct RnnShape {
  Cell cell = Cell::rnn;
  int64_t gates = 1, directions = 1, time = 0, batch = 0, input = 0, hidden = 0;
  bool reverse = false, batch_first = false, input_forget = false, linear_before_reset = false;
  double clip = 0;                      // 0: none
  std::vector<CellFunction> functions;  // per direction: f, g, h as the cell has
  size_t per_direction = 1;

  int64_t wide() const { return gates * hidden; }
  bool backwards(int64_t direction) const { return reverse || direction == 1; }
  const CellFunction& function(int64_t direction, size_t i) const {
    return functions[static_cast<size_t>(direction) * per_direction + i];
  }
  // Offsets in elements: of a state, of a point of X and of Y.
  int64_t state(int64_t direction, int64_t b) const {
    return (batch_first ? b * directions + direction : direction * batch + b) * hidden;
  }
  int64_t x(int64_t t, int64_t b) const {
    return (batch_first ? b * time + t : t * batch + b) * input;
  }
  int64_t y(int64_t direction, int64_t t, int64_t b) const {
    return (batch_first ? (b * time + t) * directions + direction
                        : (t * directions + direction) * batch + b) *
           hidden;
  }
};

// All extents known.
Result<RnnShape> rnn_shape_of(const OpContext& context);

// Steps of sequence b: what sequence_lens says, within [0, time].
int64_t sequence_length(const RnnShape& s, const RunArgs& args, int64_t b);

void add_schemas(Registry& registry);
void register_lstm_gradient(Registry& registry);
void register_gru_gradient(Registry& registry);
void register_linear_recurrence(Registry& registry);

// All types and functions, in double (rnn.cpp).
PlanResult plan_rnn(const OpContext& context);
// f32 with the functions Sigmoid, Tanh and Relu, on matrix products (packed.cpp).
template <Isa isa>
Status can_run_packed_rnn(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_packed_rnn(const OpContext& context);

}  // namespace anynpu::ops::rnn
