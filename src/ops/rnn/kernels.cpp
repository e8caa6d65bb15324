// SPDX-License-Identifier: Apache-2.0
// The kernels of RNN, GRU and LSTM in order: the first that takes a case runs it.
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/rnn/rnn.h"
#include "ops/widen.h"

namespace anynpu::ops::rnn {

namespace {

constexpr DTypeSet kF32{DType::f32};

const KernelLine kRnn[] = {
    // Matrix products over all inputs first, then step by step; only Sigmoid, Tanh and Relu.
    {"rnn_avx512", kF32, can_run_packed_rnn<Isa::avx512>, create_packed_rnn<Isa::avx512>},
    {"rnn_avx2", kF32, can_run_packed_rnn<Isa::avx2>, create_packed_rnn<Isa::avx2>},
    {"rnn_baseline", kF32, can_run_packed_rnn<Isa::baseline>, create_packed_rnn<Isa::baseline>},
    // Short floats through the float32 kernels above.
    {"widened", kShortFloats, can_run_widened, create_widened},
    // Everything, in double: the oracle of the tests.
    {"reference", kFloats, nullptr, create_plain<plan_rnn>},
};

}  // namespace

void register_family(Registry& registry) {
  add_schemas(registry);
  register_lstm_gradient(registry);
  register_gru_gradient(registry);
  register_linear_recurrence(registry);
  for (std::string_view op : {"RNN", "GRU", "LSTM"}) registry.add_kernels(op, kRnn);
}

}  // namespace anynpu::ops::rnn
