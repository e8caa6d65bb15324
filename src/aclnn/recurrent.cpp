// SPDX-License-Identifier: Apache-2.0
// Layers of LSTM and GRU with their gradients, as torch.nn has them: gates i, f, g, o and r, z, n,
// layers and directions behind each other, sequences of equal length or packed (batchSizes).
// Forward gives the gates of every step, for the gradient, as steps x batch x hidden in the order
// of time. Steps behind the end of a sequence have gates that leave its state alone.
#include <algorithm>
#include <limits>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kState = DType::f32;

Value wide_number(Recipe& r, int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); }
Value range_to(Recipe& r, int64_t n) {
  return r.op("Range", {wide_number(r, 0), wide_number(r, n), wide_number(r, 1)});
}
Value float_of(Recipe& r, Value x) { return r.cast(x, kState); }
Value multiplied(Recipe& r, Value a, Value b) { return r.op("Mul", {a, b}); }
Value added(Recipe& r, Value a, Value b) { return r.op("Add", {a, b}); }
Value matrix_product(Recipe& r, Value a, Value b) { return r.op("MatMul", {a, b}); }

struct Network {
  bool lstm = true, bias = true, packed = false, batch_first = false;
  int64_t layers = 1, directions = 1, steps = 0, batch = 0, hidden = 0, rows = 0;
  int64_t gates() const { return lstm ? 4 : 3; }
  size_t weights() const { return bias ? 4 : 2; }
  Value sizes;    // packed: sequences that a step has
  Value starts;   // rows before each step
  Value live;     // steps x batch x 1, truth
  Value lengths;  // of the sequences
};

Network network_of(Recipe& r, Param state, bool lstm) {
  Network n;
  n.lstm = lstm;
  n.bias = r.flag("hasBias");
  n.batch_first = r.flag("batchFirst");
  n.layers = r.integer("numLayers");
  n.directions = r.flag(r.has_parameter("bidirectional") ? "bidirectional" : "bidirection") ? 2 : 1;
  const Shape h = r.is_list(state) ? r.tensor(state, 0).shape.shape() : r.shape(state),
              x = r.shape("input");
  const char* const sizes = r.has_parameter("batchSizes") ? "batchSizes" : "batchSizesOptional";
  n.packed = r.given(sizes) && r.tensor(sizes).count() > 0;
  if (h.size() != 3 || n.layers < 1 || n.layers > 1024 || h[0] != n.layers * n.directions ||
      x.size() != (n.packed ? 2u : 3u)) {
    refuse(
        "the input is {} and states {} for {} layers of {} directions; expected steps x batch x "
        "size, packed rows x "
        "size, and layers * directions x batch x hidden",
        to_string(x), to_string(h), n.layers, n.directions);
  }
  n.batch = h[1], n.hidden = h[2];
  n.steps = n.packed ? r.tensor(sizes).count() : x[n.batch_first ? 1 : 0];
  n.rows = n.packed ? x[0] : n.steps * n.batch;
  if (!n.packed && x[n.batch_first ? 0 : 1] != n.batch)
    refuse("the input is {} for a batch of {}", to_string(x), n.batch);
  if (n.steps < 1 || n.batch < 1 || n.hidden < 1)
    refuse("the input is {}; expected at least one step", to_string(x));
  if (r.length("params") != static_cast<size_t>(n.layers * n.directions) * n.weights()) {
    refuse("params has {} tensors; expected {} for each of {} layers and {} directions",
           r.length("params"), n.weights(), n.layers, n.directions);
  }
  if (r.has_parameter("dropout") && !r.equals("dropout", 0) && n.layers > 1 && r.flag("train")) {
    refuse("dropout is {}; expected 0: drop between layers with an operator of its own",
           r.real("dropout"));
  }
  if (n.packed) {
    n.sizes = r.reshape(r.cast(r.in(sizes), DType::i64), {n.steps});
    const Value ends = r.op("CumSum", {n.sizes, wide_number(r, 0)});
    n.starts = r.op("Sub", {ends, n.sizes});
    n.live = r.op("Less", {r.reshape(range_to(r, n.batch), {1, n.batch, 1}),
                           r.reshape(n.sizes, {n.steps, 1, 1})});
    const Value counts =
        r.op("ReduceSum", {r.cast(n.live, DType::i64), r.constant({0, 2})}, {{"keepdims", 0}});
    n.lengths = r.op("Max", {counts, wide_number(r, 1)});
  }
  return n;
}

// --- sequences of equal length and packed ones

// The input, or a gradient of the output: steps x batch x size.
Value unpacked_steps(Recipe& r, const Network& n, Value x) {
  const Shape s = r.shape(x);
  if (!n.packed) return n.batch_first ? r.transpose(x, {1, 0, 2}) : x;
  const Value at =
      added(r, r.reshape(n.starts, {n.steps, 1}), r.reshape(range_to(r, n.batch), {1, n.batch}));
  const Value row = r.op("Where", {r.reshape(n.live, {n.steps, n.batch}), at, wide_number(r, -1)});
  const Value rows = r.op("GatherRows", {x, r.reshape(row, {n.steps * n.batch})});
  return r.reshape(rows, {n.steps, n.batch, s[1]});
}

Value packed_steps(Recipe& r, const Network& n, Value x) {
  if (!n.packed) return n.batch_first ? r.transpose(x, {1, 0, 2}) : x;
  const Value row = range_to(r, n.rows), ends = added(r, n.starts, n.sizes);
  const Value step = r.cast(r.op("SearchSorted", {ends, row}, {{"right", 1}}), DType::i64);
  const Value inside = r.op("Sub", {row, r.op("Gather", {n.starts, step}, {{"axis", 0}})});
  const Value at = added(r, multiplied(r, step, wide_number(r, n.batch)), inside);
  return r.op("GatherRows", {r.reshape(x, {n.steps * n.batch, r.extent(x, 2)}), at});
}

// Each sequence backwards in time.
Value backwards(Recipe& r, const Network& n, Value x) {
  if (!n.packed) return r.slice(x, 0, n.steps - 1, std::numeric_limits<int64_t>::min(), -1);
  return r.op("ReverseSequence", {x, n.lengths}, {{"time_axis", 0}, {"batch_axis", 1}});
}

// --- one layer in one direction, in the order of its steps

struct Weights {
  Value x, h, bias_x, bias_h;  // rows of all gates
};

Weights weights_of(Recipe& r, const Network& n, int64_t index) {
  const size_t first = static_cast<size_t>(index) * n.weights();
  const auto at = [&](size_t i) { return float_of(r, r.in("params", first + i)); };
  Weights w{at(0), at(1), {}, {}};
  const int64_t rows = n.gates() * n.hidden;
  if (r.shape(w.x).size() != 2 || r.shape(w.x)[0] != rows ||
      r.shape(w.h) != Shape{rows, n.hidden}) {
    refuse("weights are {} and {}; expected {} x size and {} x {}", to_string(r.shape(w.x)),
           to_string(r.shape(w.h)), rows, rows, n.hidden);
  }
  const auto bias = [&](size_t i) {
    return n.bias ? r.reshape(at(i), {rows}) : r.filled(kState, {rows}, 0);
  };
  w.bias_x = bias(2);
  w.bias_h = bias(3);
  return w;
}

// Rows of gates in another order, as a matrix of one direction.
Value ordered_rows(Recipe& r, const Network& n, Value w, std::initializer_list<int64_t> order) {
  std::vector<Value> parts;
  for (int64_t gate : order) parts.push_back(r.slice(w, 0, gate * n.hidden, (gate + 1) * n.hidden));
  Shape s = r.shape(w);
  s.insert(s.begin(), 1);
  return r.reshape(r.op("Concat", parts, {{"axis", 0}}), s);
}

Value before_steps(Recipe& r, const Network& n, Value first, Value all) {
  const Value one = r.reshape(first, {1, n.batch, n.hidden});
  return n.steps == 1 ? one : r.op("Concat", {one, r.slice(all, 0, 0, n.steps - 1)}, {{"axis", 0}});
}

Value projected(Recipe& r, Value x, Value w, Value bias) {
  return added(r, matrix_product(r, x, r.transpose(w, {1, 0})), bias);
}

struct Run {
  Value y, h, c;              // of all steps; the last states
  std::vector<Value> stored;  // LSTM: i, g, f, o, h, c, tanh(c); GRU: r, z, n, hn, h
};

Run run_layer(Recipe& r, const Network& n, Value x, Value h0, Value c0, const Weights& w,
              bool stores) {
  const auto both = [&](std::initializer_list<int64_t> order) {
    const auto flat = [&](Value v) { return ordered_rows(r, n, v, order); };
    return r.op("Concat", {flat(w.bias_x), flat(w.bias_h)}, {{"axis", 1}});
  };
  const Value lengths = n.packed ? r.cast(n.lengths, DType::i32) : Value{};
  const Value first = r.reshape(h0, {1, n.batch, n.hidden});
  Run run;
  if (n.lstm) {
    const auto rows = [&](Value v) { return ordered_rows(r, n, v, {0, 3, 1, 2}); };
    const auto made = r.ops("LSTM",
                            {x, rows(w.x), rows(w.h), both({0, 3, 1, 2}), lengths, first,
                             r.reshape(c0, {1, n.batch, n.hidden})},
                            3, {{"hidden_size", n.hidden}});
    run = {made[0], made[1], made[2], {}};
  } else {
    const auto rows = [&](Value v) { return ordered_rows(r, n, v, {1, 0, 2}); };
    const auto made = r.ops("GRU", {x, rows(w.x), rows(w.h), both({1, 0, 2}), lengths, first}, 2,
                            {{"hidden_size", n.hidden}, {"linear_before_reset", 1}});
    run = {made[0], made[1], {}, {}};
  }
  run.y = r.reshape(run.y, {n.steps, n.batch, n.hidden});
  if (!stores) return run;
  const Value before = before_steps(r, n, h0, run.y);
  const Value of_x = projected(r, x, w.x, w.bias_x), of_h = projected(r, before, w.h, w.bias_h);
  const auto cut = [&](Value v, int64_t gate) {
    return r.slice(v, 2, gate * n.hidden, (gate + 1) * n.hidden);
  };
  const auto sum = [&](int64_t gate) { return added(r, cut(of_x, gate), cut(of_h, gate)); };
  const auto alive = [&](Value v, double otherwise) {
    return n.packed ? r.op("Where", {n.live, v, r.constant(kState, otherwise)}) : v;
  };
  if (n.lstm) {
    const Value i = alive(r.op("Sigmoid", {sum(0)}), 0), f = alive(r.op("Sigmoid", {sum(1)}), 1);
    const Value g = alive(r.op("Tanh", {sum(2)}), 0), o = alive(r.op("Sigmoid", {sum(3)}), 0);
    const Value c =
        r.op("LinearRecurrence", {f, multiplied(r, i, g), r.reshape(c0, {n.batch, n.hidden})});
    run.stored = {i, g, f, o, run.y, c, r.op("Tanh", {c})};
  } else {
    const Value reset = alive(r.op("Sigmoid", {sum(0)}), 0),
                update = alive(r.op("Sigmoid", {sum(1)}), 1);
    const Value hidden = alive(cut(of_h, 2), 0);
    const Value fresh =
        alive(r.op("Tanh", {added(r, cut(of_x, 2), multiplied(r, reset, hidden))}), 0);
    run.stored = {reset, update, fresh, hidden, run.y};
  }
  return run;
}

Value layer_state(Recipe& r, const Network& n, Value all, int64_t index) {
  return r.reshape(r.slice(float_of(r, all), 0, index, index + 1), {n.batch, n.hidden});
}

void forward(Recipe& r, bool lstm) {
  const Network n = network_of(r, "hx", lstm);
  const Value h = lstm ? r.in("hx", 0) : r.in("hx"), c = lstm ? r.in("hx", 1) : Value{};
  static const char* const kLstmLists[] = {"iOut", "jOut", "fOut",    "oOut",
                                           "hOut", "cOut", "tanhCOut"};
  static const char* const kGruLists[] = {"rOut", "zOut", "nOut", "hnOut", "hOut"};
  const std::span<const char* const> lists =
      lstm ? std::span<const char* const>(kLstmLists) : kGruLists;
  const auto count = static_cast<size_t>(n.layers * n.directions);
  const bool stores = r.flag("train") && r.given(lists[0]) && r.length(lists[0]) == count;
  Value x = unpacked_steps(r, n, float_of(r, r.in("input")));
  std::vector<Value> last_h, last_c;
  for (int64_t layer = 0; layer < n.layers; ++layer) {
    std::vector<Value> out;
    for (int64_t d = 0; d < n.directions; ++d) {
      const int64_t index = layer * n.directions + d;
      const auto turned = [&](Value v) { return d == 1 ? backwards(r, n, v) : v; };
      Run run =
          run_layer(r, n, turned(x), layer_state(r, n, h, index),
                    lstm ? layer_state(r, n, c, index) : Value{}, weights_of(r, n, index), stores);
      out.push_back(turned(run.y));
      last_h.push_back(run.h);
      if (lstm) last_c.push_back(run.c);
      for (size_t i = 0; i < run.stored.size(); ++i) {
        const auto at = static_cast<size_t>(index);
        r.out(lists[i], at, r.reshape(turned(run.stored[i]), r.tensor(lists[i], at).shape.shape()));
      }
    }
    x = n.directions == 1 ? out[0] : r.op("Concat", out, {{"axis", 2}});
  }
  const auto joined = [&](const std::vector<Value>& states) {
    return r.op("Concat", states, {{"axis", 0}});
  };
  r.out("output", packed_steps(r, n, x));
  r.out("hy", joined(last_h));
  if (lstm) r.out("cy", joined(last_c));
}

void lstm_layers(Recipe& r) { forward(r, true); }
void gru_layers(Recipe& r) { forward(r, false); }

// --- backwards

Value optional_state(Recipe& r, const Network& n, const char* name, int64_t index) {
  if (!r.has_parameter(name) || !r.given(name)) return r.filled(kState, {n.batch, n.hidden}, 0);
  return layer_state(r, n, r.in(name), index);
}

void backward(Recipe& r, bool lstm) {
  const Network n = network_of(r, "hx", lstm);
  const Value h = lstm ? r.in("hx", 0) : r.in("hx"), c = lstm ? r.in("hx", 1) : Value{};
  const Value x = unpacked_steps(r, n, float_of(r, r.in("input")));
  const auto whole = [&](const char* list, int64_t index) {
    return r.reshape(float_of(r, r.in(list, static_cast<size_t>(index))),
                     {n.steps, n.batch, n.hidden});
  };
  Value dy = r.given("dy") ? unpacked_steps(r, n, float_of(r, r.in("dy")))
                           : r.filled(kState, {n.steps, n.batch, n.hidden * n.directions}, 0);
  std::vector<Value> dh0(static_cast<size_t>(n.layers * n.directions)), dc0 = dh0;
  // The last step of each sequence, where the gradient of its last state comes in.
  Value is_last;
  if (n.packed) {
    const Value step = r.reshape(range_to(r, n.steps), {n.steps, 1, 1});
    is_last = r.op("Equal",
                   {step, r.reshape(r.op("Sub", {n.lengths, wide_number(r, 1)}), {1, n.batch, 1})});
  }
  const Value none = r.filled(kState, {n.batch, n.hidden}, 0);
  for (int64_t layer = n.layers - 1; layer >= 0; --layer) {
    Value given = x;
    if (layer > 0) {
      std::vector<Value> parts;
      for (int64_t d = 0; d < n.directions; ++d)
        parts.push_back(whole("h", (layer - 1) * n.directions + d));
      given = parts.size() == 1 ? parts[0] : r.op("Concat", parts, {{"axis", 2}});
    }
    Value dx;
    for (int64_t d = 0; d < n.directions; ++d) {
      const int64_t index = layer * n.directions + d;
      const auto at = static_cast<size_t>(index);
      const auto turned = [&](Value v) { return d == 1 ? backwards(r, n, v) : v; };
      const auto stored = [&](const char* list) { return turned(whole(list, index)); };
      const Weights w = weights_of(r, n, index);
      const Value in = turned(given), all_h = stored("h"), h0 = layer_state(r, n, h, index);
      Value dh = optional_state(r, n, "dh", index);
      Value own = turned(r.slice(dy, 2, d * n.hidden, (d + 1) * n.hidden));
      if (n.packed) {
        own = added(
            r, own,
            r.op("Where", {is_last, r.reshape(dh, {1, n.batch, n.hidden}), r.constant(kState, 0)}));
        dh = none;
      }
      Value of_x, of_h;
      if (lstm) {
        const auto made = r.ops("LstmGateGrad",
                                {w.h, layer_state(r, n, c, index), stored("c"), own, dh,
                                 optional_state(r, n, "dc", index), stored("i"), stored("g"),
                                 stored("f"), stored("o"), stored("tanhc")},
                                3, {{"j_second", 0}});
        of_x = of_h = made[0];
        dh0[at] = made[1], dc0[at] = made[2];
      } else {
        const auto made =
            r.ops("GruGateGrad",
                  {w.h, h0, all_h, own, dh, stored("z"), stored("r"), stored("n"), stored("hn")}, 3,
                  {{"z_first", 0}});
        of_x = made[0], of_h = made[1], dh0[at] = made[2];
      }
      const int64_t rows = n.steps * n.batch, wide = n.gates() * n.hidden;
      of_x = r.reshape(of_x, {rows, wide});
      of_h = r.reshape(of_h, {rows, wide});
      const auto weight = [&](Value gates, Value went_in) {
        return matrix_product(r, r.transpose(gates, {1, 0}),
                              r.reshape(went_in, {rows, r.extent(went_in, 2)}));
      };
      const size_t first = at * n.weights();
      r.out("dparamsOut", first, weight(of_x, in));
      r.out("dparamsOut", first + 1, weight(of_h, before_steps(r, n, h0, all_h)));
      for (size_t i = 2; i < n.weights(); ++i) {
        const Value bias =
            r.op("ReduceSum", {i == 2 ? of_x : of_h, r.constant({0})}, {{"keepdims", 0}});
        r.out("dparamsOut", first + i,
              r.reshape(bias, r.tensor("dparamsOut", first + i).shape.shape()));
      }
      const Value part =
          turned(r.reshape(matrix_product(r, of_x, w.x), {n.steps, n.batch, r.extent(w.x, 1)}));
      dx = dx ? added(r, dx, part) : part;
    }
    dy = dx;
  }
  const auto states = [&](std::vector<Value> list) {
    for (Value& one : list) one = r.reshape(one, {1, n.batch, n.hidden});
    return r.op("Concat", list, {{"axis", 0}});
  };
  if (r.given("dxOut")) r.out("dxOut", packed_steps(r, n, dy));
  if (r.given("dhPrevOut")) r.out("dhPrevOut", states(dh0));
  if (lstm && r.given("dcPrevOut")) r.out("dcPrevOut", states(dc0));
}

void lstm_layers_gradient(Recipe& r) { backward(r, true); }
void gru_layers_gradient(Recipe& r) { backward(r, false); }

const Row kRows[] = {
    {"aclnnLSTM", lstm_layers},
    {"aclnnLstmBackward", lstm_layers_gradient},
    {"aclnnGRU", gru_layers},
    {"aclnnGRUBackward", gru_layers_gradient},
};

}  // namespace

std::span<const Row> recurrent_rows() { return kRows; }

}  // namespace anynpu::aclnn
