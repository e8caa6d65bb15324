// SPDX-License-Identifier: Apache-2.0
// The ends of a recipe: views turned before it begins, shared memory settled when it is done.
#include <algorithm>
#include <numeric>

#include "aclnn/recipe_state.h"
#include "ops/registry.h"

namespace anynpu::aclnn {

namespace {

// `view` with `rank` axes: those in front have one element.
TensorView padded(const TensorView& view, size_t rank) {
  TensorView wide = view;
  wide.shape = wide.strides = Dims();
  for (size_t i = view.shape.size(); i < rank; ++i) {
    wide.shape.push_back(1);
    wide.strides.push_back(0);
  }
  for (size_t i = 0; i < view.shape.size(); ++i) {
    wide.shape.push_back(view.shape[i]);
    wide.strides.push_back(view.strides[i]);
  }
  return wide;
}

TensorView permuted(const TensorView& view, const std::vector<size_t>& order) {
  TensorView turned = view;
  for (size_t i = 0; i < order.size(); ++i) {
    turned.shape[i] = view.shape[order[i]];
    turned.strides[i] = view.strides[order[i]];
  }
  return turned;
}

bool fits(const TensorView& view, const TensorView& out) {
  const size_t rank = out.shape.size();
  if (view.shape.size() > rank) return false;
  const size_t skip = rank - view.shape.size();
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] != 1 && view.shape[i] != out.shape[skip + i]) return false;
  }
  return true;
}

}  // namespace

// Element-wise operators compute the same whatever the order of axes: the one in which the first
// output lies is taken, so that transposed and channels-last tensors are read as they lie. An axis
// along which an input repeats is one of extent 1.
void Recipe::normalise() {
  const Signature& signature = *call_.signature;
  const TensorView* out = nullptr;
  std::vector<bool> written(state_->views.size(), false);
  for (size_t i = 0; i < call_.arguments.size(); ++i) {
    const Argument& argument = call_.arguments[i];
    if (argument.kind == ArgumentKind::tensors) return;
    if (argument.kind != ArgumentKind::tensor || !argument.given) continue;
    if (signature.outputs[i] == 'i') continue;
    written[argument.first_tensor] = true;
    if (!out) out = &state_->views[argument.first_tensor];
  }
  if (!out) return;
  for (size_t i = 0; i < state_->views.size(); ++i) {
    if (call_.tensors[i] && !fits(state_->views[i], *out)) return;  // the recipe will say so
  }
  const size_t rank = out->shape.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (!out->contiguous()) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::abs(out->strides[a]) > std::abs(out->strides[b]);
    });
  }
  for (size_t i = 0; i < state_->views.size(); ++i) {
    if (!call_.tensors[i]) continue;
    TensorView turned = permuted(padded(state_->views[i], rank), order);
    for (size_t axis = 0; !written[i] && axis < rank; ++axis) {
      if (turned.strides[axis] == 0 && turned.shape[axis] > 0) turned.shape[axis] = 1;
    }
    state_->views[i] = turned;
  }
}

namespace {

struct Memory {
  const std::byte *begin, *end;
};

// Null for what is no tensor of the call, and for memory that is not given yet.
Memory memory_of(const std::vector<TensorView>& views, const Feed& feed) {
  if (feed.from != Feed::From::tensor || !views[feed.index].data) return {nullptr, nullptr};
  const TensorView& view = views[feed.index];
  const std::byte* begin = view.begin();
  return {begin, begin + feed.bytes};
}
bool overlap(const Memory& a, const Memory& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

// A node that writes into a strided view goes behind all others, and reads what was put aside: a
// copy of its own output would write the elements between those of the view too.
void Recipe::write_view_last(size_t place) {
  graph::Graph& graph = state_->graph;
  graph::Node node = std::move(graph.nodes[place]);
  graph.nodes.erase(graph.nodes.begin() + static_cast<int64_t>(place));
  Value source{node.inputs[0]};
  if (node.attrs.count("from_strides")) {
    source = op("MoveView", {source},
                {{"shape", node.ints_attr("shape")},
                 {"from_strides", node.ints_attr("from_strides")},
                 {"from_offset", node.int_attr("from_offset", 0)}});
    node.attrs.erase("from_strides");
    node.attrs.erase("from_offset");
  } else if (state_->is_input(source)) {
    source = op("Stage", {source});
  }
  node.inputs[0] = source.id;
  node.name = format("{}_{}", call_.signature->name, state_->names++);
  graph.nodes.push_back(std::move(node));
}

// Which inputs share memory with an output.
void Recipe::note_overwrites(const Feed& feed_of_output, graph::ValueId written, Part& part) const {
  const State& state = *state_;
  const Memory target = memory_of(state.views, feed_of_output);
  const graph::Value& to = state.graph.values[static_cast<size_t>(written)];
  for (size_t i = 0; i < state.inputs.size(); ++i) {
    const Feed& feed = state.inputs[i];
    if (feed.from != Feed::From::tensor) continue;
    const Memory source = memory_of(state.views, feed);
    if (!overlap(source, target)) continue;
    const graph::ValueId id = state.graph.inputs[i];
    const graph::Value& from = state.graph.values[static_cast<size_t>(id)];
    const bool in_step = source.begin == target.begin && from.shape == to.shape &&
                         size_of(from.dtype) == size_of(to.dtype);
    part.overwrites.push_back({id, written, in_step});
  }
}

// An output that shares memory with an input is written while nobody needs the input any more: by
// its own node, when that is the last reader and goes element by element, else by a copy behind all
// nodes.
void Recipe::close_part(std::vector<Transfer> transfers) {
  State& state = *state_;
  graph::Graph& graph = state.graph;
  Part part;
  std::vector<graph::ValueId> written;
  for (State::Output& output : state.outputs) {
    const Memory target = memory_of(state.views, output.feed);
    bool staged = !output.feed.dynamic_shape &&
                  std::find(written.begin(), written.end(), output.value.id) != written.end();
    int producer = -1;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const auto& made = graph.nodes[n].outputs;
      if (std::find(made.begin(), made.end(), output.value.id) != made.end())
        producer = static_cast<int>(n);
    }
    for (size_t i = 0; i < state.inputs.size() && !staged; ++i) {
      const Feed& feed = state.inputs[i];
      if (feed.from != Feed::From::tensor) continue;
      const Memory source = memory_of(state.views, feed);
      if (!overlap(source, target)) continue;
      const graph::ValueId id = graph.inputs[i];
      if (producer < 0) {
        // A copy: from the very place, or of elements that may overlap.
        staged = source.begin != target.begin;
        continue;
      }
      for (size_t n = 0; n < graph.nodes.size(); ++n) {
        const auto& reads = graph.nodes[n].inputs;
        if (std::find(reads.begin(), reads.end(), id) == reads.end()) continue;
        if (static_cast<int>(n) < producer) continue;
        const auto rule = ops::traits_of(graph.nodes[n]).transposes;
        const bool moves = graph.nodes[n].op == "MoveView" || graph.nodes[n].op == "Stage";
        const bool in_step = (row_.elementwise && !moves) ||
                             rule == ops::TransposeRule::elementwise ||
                             rule == ops::TransposeRule::broadcast;
        const graph::Value &from = graph.values[static_cast<size_t>(id)],
                           &to = graph.values[static_cast<size_t>(output.value.id)];
        staged = staged || static_cast<int>(n) > producer || !in_step ||
                 source.begin != target.begin || from.shape != to.shape ||
                 size_of(from.dtype) != size_of(to.dtype);
      }
    }
    if (staged && producer >= 0 &&
        graph.nodes[static_cast<size_t>(producer)].attrs.count("to_strides")) {
      write_view_last(static_cast<size_t>(producer));
    } else if (staged) {
      output.value = op("Stage", {output.value});
    }
    written.push_back(output.value.id);
    note_overwrites(output.feed, output.value.id, part);
    graph.outputs.push_back(output.value.id);
    part.outputs.push_back(output.feed);
  }
  graph.name = std::string(call_.signature->name);
  // Staged copies stand behind all other nodes: they were added last.
  if (!graph.outputs.empty()) {
    part.graph = std::move(graph);
    part.inputs = std::move(state.inputs);
    part.transfers = std::move(transfers);
    state.parts.push_back(std::move(part));
  }
  state.graph = {};
  state.inputs.clear();
  state.outputs.clear();
  state.read.clear();
  state.turned.clear();
}

namespace {

// Rows along axis 0 as bytes for each rank; `shape` becomes that of what comes.
void route_rows(Transfer& t, const Recipe::Given& given, Shape& shape) {
  const auto whole = [&](const Ints& rows) {
    int64_t sum = 0;
    for (int64_t n : rows) {
      if (n < 0 || n > kMostItems) refuse("{} rows go to a rank; expected 0 to {}", n, kMostItems);
      sum += n;
    }
    return sum;
  };
  const auto ranks = static_cast<size_t>(t.ranks);
  if (given.sent.size() != ranks || given.received.size() != ranks ||
      whole(given.sent) != shape[0]) {
    refuse(
        "{} rows are sent as {} and received as {}; expected a number for each of {} ranks and "
        "their sum",
        shape[0], given.sent.plain(), given.received.plain(), t.ranks);
  }
  const size_t row =
      bytes_of(t.dtype, static_cast<size_t>(element_count({shape.begin() + 1, shape.end()})));
  for (size_t i = 0; i < ranks; ++i) {
    t.sent.push_back(static_cast<uint64_t>(given.sent[i]) * row);
    t.received.push_back(static_cast<uint64_t>(given.received[i]) * row);
  }
  shape[0] = whole(given.received);
}

}  // namespace

Values Recipe::next_part(Param group, int64_t ranks, const std::vector<Given>& given) {
  struct Next {
    Feed feed;
    DType dtype;
    Shape shape;
  };
  std::vector<Transfer> transfers;
  std::vector<Next> next;
  const std::string name = text(group);
  if (name.empty()) refuse("{} is empty; expected the name of a communicator", label(group));
  for (const Given& one : given) {
    Value value = one.value;
    if (state_->is_input(value) || state_->value(value).constant) value = op("Stage", {value});
    Next to{{}, dtype(value), shape(value)};
    Feed from;
    from.from = to.feed.from = Feed::From::shared;
    from.bytes = bytes_of(to.dtype, static_cast<size_t>(element_count(to.shape)));
    from.offset = to.feed.offset = state_->share(from.bytes);
    to.feed.bytes = from.bytes;
    state_->outputs.push_back({from, value});
    if (one.exchange != Exchange::keep) {
      Transfer t{one.exchange, name,        ranks,
                 from.offset,  from.offset, static_cast<uint64_t>(element_count(to.shape)),
                 to.dtype,     {},          {}};
      if (one.exchange != Exchange::all_reduce) {
        if (to.shape.empty() || ranks < 1)
          refuse("{} ranks exchange a tensor of {}", ranks, to_string(to.shape));
        const bool gathers = one.exchange == Exchange::all_gather;
        if (one.exchange == Exchange::all_to_all) {
          route_rows(t, one, to.shape);
        } else {
          if (!gathers && to.shape[0] % ranks != 0) {
            refuse("{} rows go to {} ranks; expected a multiple", to.shape[0], ranks);
          }
          if (!gathers) t.count /= static_cast<uint64_t>(ranks);
          to.shape[0] = gathers ? to.shape[0] * ranks : to.shape[0] / ranks;
        }
        to.feed.bytes = bytes_of(to.dtype, static_cast<size_t>(element_count(to.shape)));
        to.feed.offset = t.to = state_->share(to.feed.bytes);
      }
      transfers.push_back(std::move(t));
    }
    next.push_back(std::move(to));
  }
  close_part(std::move(transfers));
  Values made;
  for (const Next& to : next) made.push_back(state_->add_input(to.feed, to.dtype, to.shape));
  return made;
}

Built Recipe::finish() {
  close_part();
  Built built;
  built.shared_bytes = state_->shared_bytes;
  built.parts = std::move(state_->parts);
  built.read_values = std::move(state_->read_values);
  return built;
}

}  // namespace anynpu::aclnn
