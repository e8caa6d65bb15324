// SPDX-License-Identifier: Apache-2.0
// CudnnRNN: layers of LSTM, GRU or plain cells whose parameters are one row, in cuDNN's order: the
// matrices of all layers and directions (for the input, then for the state), then the biases of
// all.
#include <algorithm>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

struct Cells {
  const char* op;
  Ints gates;  // of ours, by their number in cuDNN
};

Cells cells_of(const std::string& mode) {
  if (mode == "lstm") return {"LSTM", {0, 3, 1, 2}};  // i f c o there, i o f c here
  if (mode == "gru") return {"GRU", {1, 0, 2}};       // r z h there, z r h here
  return {"RNN", {0}};
}

class Parameters {
 public:
  Parameters(Builder& b, ValueId row, int64_t units, Ints gates)
      : b_(b), row_(row), units_(units), gates_(std::move(gates)) {}

  // The next matrices, one for each gate: (1, gates * units, columns).
  ValueId matrices(int64_t columns) { return next(units_ * columns, {1, -1, columns}); }
  ValueId biases() { return next(units_, {1, -1}); }
  int64_t used() const { return at_; }

 private:
  ValueId next(int64_t count, const Ints& shape) {
    std::vector<ValueId> parts;
    for (int64_t gate : gates_)
      parts.push_back(b_.slice(row_, 0, at_ + gate * count, at_ + (gate + 1) * count));
    at_ += count * static_cast<int64_t>(gates_.size());
    const ValueId all =
        parts.size() == 1 ? parts[0] : b_.node("Concat", 13, parts, {{"axis", int64_t{0}}});
    return b_.reshape(all, shape);
  }

  Builder& b_;
  ValueId row_;
  int64_t units_;
  Ints gates_;
  int64_t at_ = 0;
};

}  // namespace

// input (time, batch, features), states (layers * directions, batch, units), parameters.
void lower_cudnn_rnn(Builder& b) {
  const std::string mode = b.word("rnn_mode", "lstm", {"lstm", "gru", "rnn_tanh", "rnn_relu"});
  const bool both =
      b.word("direction", "unidirectional", {"unidirectional", "bidirectional"}) == "bidirectional";
  b.word("input_mode", "linear_input", {"linear_input", "auto_select"});
  const bool third = b.type() == "CudnnRNNV3";
  const bool turned = third && !b.flag("time_major", true);
  ValueId x = b.in(0), h = b.in(1), c = b.in(2);
  const ValueId row = b.in(3), lengths = third ? b.cast(b.in(4), DType::i32) : kNoValue;
  if (!b.has_rank(x, "the input", 3, 3) || !b.need_fixed(x, "the input") ||
      !b.has_rank(h, "the state", 3, 3) || !b.need_fixed(h, "the state") ||
      !b.has_rank(row, "the parameters", 1, 1) || !b.need_fixed(row, "the parameters"))
    return;
  if (b.flag("is_training", true) && b.f("dropout", 0) > 0) {
    return b.refuse(Code::unsupported_feature,
                    "it drops out {} of the elements between layers, as in training; freeze the "
                    "model with is_training=False",
                    b.f("dropout", 0));
  }
  if (turned) {
    x = b.transpose(x, {1, 0, 2});
    h = b.transpose(h, {1, 0, 2});
    if (mode == "lstm") c = b.transpose(c, {1, 0, 2});
  }
  const Cells cells = cells_of(mode);
  const Shape in = b.shape(x), state = b.shape(h);
  const int64_t directions = both ? 2 : 1, layers = state[0] / directions, units = state[2];
  Parameters parameters(b, row, units, cells.gates);
  struct Layer {
    std::vector<ValueId> w, r, bias;
  };
  std::vector<Layer> all(static_cast<size_t>(std::max<int64_t>(layers, 0)));
  for (size_t l = 0; l < all.size() && b.ok(); ++l) {
    for (int64_t d = 0; d < directions; ++d) {
      all[l].w.push_back(parameters.matrices(l == 0 ? in[2] : units * directions));
      all[l].r.push_back(parameters.matrices(units));
    }
  }
  for (Layer& layer : all) {
    for (int64_t d = 0; d < directions; ++d) {
      const ValueId own = parameters.biases(), recurrent = parameters.biases();
      layer.bias.push_back(concat(b, {own, recurrent}, 1));
    }
  }
  if (b.ok() && parameters.used() != b.shape(row)[0]) {
    return b.refuse(Code::shape_mismatch,
                    "it has {} parameters; {} layers of {} units on {} features have {}",
                    b.shape(row)[0], layers, units, in[2], parameters.used());
  }
  NodeAttrs attrs{{"hidden_size", units},
                  {"direction", std::string(both ? "bidirectional" : "forward")}};
  if (mode == "gru") attrs["linear_before_reset"] = int64_t{1};
  if (mode == "rnn_relu")
    attrs["activations"] = std::vector<std::string>(static_cast<size_t>(directions), "Relu");
  std::vector<ValueId> last_h, last_c;
  for (size_t l = 0; l < all.size() && b.ok(); ++l) {
    const auto begin = static_cast<int64_t>(l) * directions, end = begin + directions;
    std::vector<ValueId> inputs = {
        x,       concat(b, all[l].w, 0),   concat(b, all[l].r, 0), concat(b, all[l].bias, 0),
        lengths, b.slice(h, 0, begin, end)};
    if (mode == "lstm") inputs.push_back(b.slice(c, 0, begin, end));
    const auto made = b.nodes(cells.op, 14, inputs, mode == "lstm" ? 3 : 2, attrs);
    // time, directions, batch, units -> time, batch, directions * units
    x = b.reshape(b.transpose(made[0], {0, 2, 1, 3}), {in[0], in[1], directions * units});
    last_h.push_back(made[1]);
    if (mode == "lstm") last_c.push_back(made[2]);
  }
  if (!b.ok() || last_h.empty()) return b.refuse(Code::shape_mismatch, "the state has no layers");
  const auto out = [&](size_t index, ValueId id) {
    b.out(index, turned ? b.transpose(id, {1, 0, 2}) : id);
  };
  out(0, x);
  out(1, concat(b, last_h, 0));
  if (mode == "lstm") out(2, concat(b, last_c, 0));
}

}  // namespace anynpu::tensorflow
