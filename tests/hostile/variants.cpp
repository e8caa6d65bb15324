// SPDX-License-Identifier: Apache-2.0
#include "variants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/format.h"
#include "graph/tensor_value.h"
#include "tensor/texts.h"

namespace anynpu::hostile {

namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

std::vector<std::string_view> texts_of(const Feed& feed) {
  auto texts = unpack_texts(feed.bytes, static_cast<size_t>(element_count(feed.shape)));
  return texts.ok() ? std::move(*texts) : std::vector<std::string_view>();
}

// The elements of `from` over and over, until the shape is full.
Feed shaped(const Feed& from, Shape shape) {
  Feed made{from.dtype, std::move(shape), {}};
  const auto count = static_cast<size_t>(element_count(made.shape));
  if (from.dtype == DType::string) {
    const std::vector<std::string_view> texts = texts_of(from);
    std::vector<std::string_view> repeated(count);
    for (size_t i = 0; i < count && !texts.empty(); ++i) repeated[i] = texts[i % texts.size()];
    made.bytes = pack_texts(repeated);
    return made;
  }
  made.bytes.resize(bytes_of(made.dtype, count));
  for (size_t i = 0; i < made.bytes.size() && !from.bytes.empty(); ++i)
    made.bytes[i] = from.bytes[i % from.bytes.size()];
  return made;
}

Shape with_first(Shape shape, int64_t extent) {
  if (shape.empty()) return {extent};
  shape[0] = extent;
  return shape;
}

// One value for all elements: small bit patterns repeated.
template <typename T>
Feed filled(const Feed& from, T value) {
  Feed made = from;
  for (size_t i = 0; i < made.bytes.size(); ++i)
    made.bytes[i] = reinterpret_cast<const std::byte*>(&value)[i % sizeof value];
  return made;
}

struct Change {
  std::string name;
  Feed feed;
};

void add_shapes(std::vector<Change>& out, const Feed& feed) {
  const Shape& shape = feed.shape;
  out.push_back({"emptied", shaped(feed, with_first(shape, 0))});
  if (shape.size() > 1) {
    Shape last = shape;
    last.back() = 0;
    out.push_back({"emptied at the end", shaped(feed, last)});
  }
  out.push_back({"doubled", shaped(feed, with_first(shape, shape.empty() ? 2 : shape[0] * 2))});
  if (shape.size() > 1) {
    Shape last = shape;
    last.back() *= 2;
    out.push_back({"doubled at the end", shaped(feed, last)});
  }
  if (!shape.empty() && shape[0] > 1) {
    out.push_back({"cut to one", shaped(feed, with_first(shape, 1))});
    out.push_back({"one longer", shaped(feed, with_first(shape, shape[0] + 1))});
  }
  Shape front = shape, back = shape;
  front.insert(front.begin(), 1);
  back.push_back(1);
  out.push_back({"of a rank more", shaped(feed, front)});
  out.push_back({"of a rank more at the end", shaped(feed, back)});
  if (shape.size() > 1) {
    out.push_back({"flat", shaped(feed, {element_count(shape)})});
    out.push_back({"of a rank less", shaped(feed, Shape(shape.begin() + 1, shape.end()))});
  }
  if (!shape.empty()) out.push_back({"a scalar", shaped(feed, {})});
}

void add_types(std::vector<Change>& out, const Feed& feed) {
  for (const DType type : {DType::f32, DType::i64, DType::u8, DType::f16, DType::boolean}) {
    if (type == feed.dtype) continue;
    Feed other = feed;
    other.dtype = type;
    out.push_back({format("as {}", name_of(type)), shaped(other, feed.shape)});
  }
  if (feed.dtype == DType::string) return;
  const std::vector<std::string_view> texts(static_cast<size_t>(element_count(feed.shape)), "1");
  out.push_back({"as string", {DType::string, feed.shape, pack_texts(texts)}});
}

void add_texts(std::vector<Change>& out, const Feed& feed) {
  static const std::string kLong(5000, '(');
  for (const std::string_view text : {std::string_view(), std::string_view("\xff\xc3"),
                                      std::string_view("\0a", 2), std::string_view(kLong)}) {
    const std::vector<std::string_view> texts(static_cast<size_t>(element_count(feed.shape)), text);
    out.push_back({format("with texts of {} bytes", text.size()),
                   {DType::string, feed.shape, pack_texts(texts)}});
  }
}

void add_values(std::vector<Change>& out, const Feed& feed) {
  const auto add = [&](auto... values) {
    int number = 0;
    (out.push_back({format("with values {}", number++), filled(feed, values)}), ...);
  };
  using I64 = std::numeric_limits<int64_t>;
  using I32 = std::numeric_limits<int32_t>;
  if (feed.dtype == DType::i64) add(int64_t{0}, int64_t{-1}, int64_t{-7}, I64::max(), I64::min());
  // Not the largest: it may be the size of what is made, and that is work and no mistake.
  if (feed.dtype == DType::i32) add(int32_t{0}, int32_t{-1}, I32::min());
  if (feed.dtype == DType::f32) add(0.0f, -1e30f, 3e38f, NAN, INFINITY, -INFINITY);
  if (feed.dtype == DType::f64) add(-1e300, static_cast<double>(NAN));
  if (feed.dtype == DType::f16 || feed.dtype == DType::bf16)
    add(uint16_t{0}, uint16_t{0x7fff}, uint16_t{0xff80});
  if (size_of(feed.dtype) == 1) add(uint8_t{0}, uint8_t{0xff}, uint8_t{0x80});
}

std::vector<Change> changes_of(const Feed& feed) {
  std::vector<Change> out;
  const bool texts = feed.dtype == DType::string;
  if (!texts && size_of(feed.dtype) == 0) return out;
  add_shapes(out, feed);
  add_types(out, feed);
  if (texts) {
    add_texts(out, feed);
  } else {
    add_values(out, feed);
  }
  return out;
}

// Whatever the model says of the tensors behind its inputs is forgotten.
void forget_shapes(Graph& graph) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    graph::Value& value = graph.values[i];
    const bool input = std::find(graph.inputs.begin(), graph.inputs.end(),
                                 static_cast<ValueId>(i)) != graph.inputs.end();
    if (input || value.constant) continue;
    value.has_shape = false;
    value.shape.clear();
  }
}

void set_input(Graph& graph, size_t index, const Feed& feed) {
  graph::Value& value = graph.values[static_cast<size_t>(graph.inputs[index])];
  value.dtype = feed.dtype;
  value.shape = feed.shape;
  value.has_shape = true;
}

void make_constant(Variant& variant, size_t index) {
  Graph& graph = variant.graph;
  const auto place = static_cast<ptrdiff_t>(index);
  graph.values[static_cast<size_t>(graph.inputs[index])].constant =
      graph::constant_of(variant.feeds[index].bytes);
  graph.inputs.erase(graph.inputs.begin() + place);
  variant.feeds.erase(variant.feeds.begin() + place);
}

void replace_uses(Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
}

class Maker {
 public:
  Maker(const Graph& graph, const std::vector<Feed>& feeds, const std::function<bool()>& wanted,
        const std::function<void(Variant&&)>& visit)
      : graph_(graph), feeds_(feeds), wanted_(wanted), visit_(visit) {}

  void all() {
    if (wanted_()) visit_({"as it is", graph_, feeds_});
    for (size_t i = 0; i < feeds_.size(); ++i) {
      for (const Change& change : changes_of(feeds_[i])) change_input(i, change);
      at_run_time(i);
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      leave_out(n);
      change_attributes(n);
    }
  }

 private:
  void change_input(size_t index, const Change& change) {
    const std::string name = format("input {} {}", index, change.name);
    if (wanted_()) {
      Variant made{name, graph_, feeds_};
      made.feeds[index] = change.feed;
      set_input(made.graph, index, change.feed);
      visit_(std::move(made));
    }
    if (wanted_()) {
      Variant made{name + ", no shapes stated", graph_, feeds_};
      made.feeds[index] = change.feed;
      set_input(made.graph, index, change.feed);
      forget_shapes(made.graph);
      visit_(std::move(made));
    }
    if (wanted_()) {
      Variant made{name + ", a constant", graph_, feeds_};
      made.feeds[index] = change.feed;
      set_input(made.graph, index, change.feed);
      forget_shapes(made.graph);
      for (size_t i = feeds_.size(); i-- > 0;) {
        // Strings are no inputs of a model: all of them become constants.
        if (i == index || made.feeds[i].dtype == DType::string) make_constant(made, i);
      }
      visit_(std::move(made));
    }
  }

  // input -> Compress, whose condition keeps none or all of it.
  void at_run_time(size_t index) {
    if (feeds_[index].dtype == DType::string) return;
    for (const uint8_t keep : {0, 1}) {
      if (!wanted_()) continue;
      Variant made{format("input {} {} at run time", index, keep ? "kept" : "emptied"), graph_,
                   feeds_};
      Feed& feed = made.feeds[index];
      if (feed.shape.empty()) feed.shape = {1};
      set_input(made.graph, index, feed);
      forget_shapes(made.graph);
      const Feed condition{
          DType::boolean,
          {feed.shape[0]},
          std::vector<std::byte>(static_cast<size_t>(feed.shape[0]), std::byte{keep})};
      const ValueId given = made.graph.inputs[index];
      const ValueId mask = made.graph.add_value(
          graph::tensor_value("hostile_mask", DType::boolean, condition.shape));
      graph::Value passed;
      passed.name = "hostile_passed";
      const ValueId result = made.graph.add_value(std::move(passed));
      replace_uses(made.graph, given, result);
      Node node;
      node.op = "Compress";
      node.opset = 11;
      node.name = "hostile_compress";
      node.inputs = {given, mask};
      node.outputs = {result};
      node.attrs["axis"] = int64_t{0};
      made.graph.nodes.insert(made.graph.nodes.begin(), std::move(node));
      made.graph.inputs.push_back(mask);
      made.feeds.push_back(condition);
      visit_(std::move(made));
    }
  }

  void leave_out(size_t n) {
    const Node& node = graph_.nodes[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue || !wanted_()) continue;
      Variant made{format("'{}' without input {}", node.name, i), graph_, feeds_};
      made.graph.nodes[n].inputs[i] = kNoValue;
      visit_(std::move(made));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || !wanted_()) continue;
      Variant made{format("'{}' without output {}", node.name, i), graph_, feeds_};
      made.graph.nodes[n].outputs[i] = kNoValue;
      std::erase(made.graph.outputs, node.outputs[i]);
      for (Node& other : made.graph.nodes)
        std::replace(other.inputs.begin(), other.inputs.end(), node.outputs[i], kNoValue);
      visit_(std::move(made));
    }
  }

  void change_attributes(size_t n) {
    for (const auto& [key, attr] : graph_.nodes[n].attrs) {
      const auto give = [&](graph::Attr value, int number) {
        if (!wanted_()) return;
        Variant made{format("'{}' with {} changed, {}", graph_.nodes[n].name, key, number), graph_,
                     feeds_};
        made.graph.nodes[n].attrs[key] = std::move(value);
        forget_shapes(made.graph);
        visit_(std::move(made));
      };
      int number = 0;
      constexpr int64_t kEnds[] = {0, -1, 3, std::numeric_limits<int64_t>::max(),
                                   std::numeric_limits<int64_t>::min()};
      if (const auto* integers = std::get_if<std::vector<int64_t>>(&attr)) {
        give(std::vector<int64_t>{}, number++);
        auto longer = *integers, shorter = *integers;
        longer.push_back(1);
        if (!shorter.empty()) shorter.pop_back();
        give(longer, number++);
        give(shorter, number++);
        for (const int64_t end : kEnds) give(std::vector<int64_t>(integers->size(), end), number++);
      } else if (std::holds_alternative<int64_t>(attr)) {
        for (const int64_t end : kEnds) give(end, number++);
      } else if (std::holds_alternative<float>(attr)) {
        for (const float end : {0.0f, -1e30f, NAN, INFINITY}) give(end, number++);
      } else if (std::holds_alternative<std::string>(attr)) {
        for (const char* text : {"", "x", "\xff"}) give(std::string(text), number++);
      }
    }
  }

  const Graph& graph_;
  const std::vector<Feed>& feeds_;
  const std::function<bool()>& wanted_;
  const std::function<void(Variant&&)>& visit_;
};

}  // namespace

void for_each_variant(const Graph& graph, const std::vector<Feed>& feeds,
                      const std::function<bool()>& wanted,
                      const std::function<void(Variant&&)>& visit) {
  Maker(graph, feeds, wanted, visit).all();
}

}  // namespace anynpu::hostile
