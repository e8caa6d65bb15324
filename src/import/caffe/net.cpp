// SPDX-License-Identifier: Apache-2.0
// The walk over the layers of a net.
#include <algorithm>

#include "base/mapped_file.h"
#include "base/text.h"
#include "import/caffe/builder.h"
#include "import/caffe/fields.h"
#include "import/model_kind.h"

namespace anynpu::caffe {

using graph::Value;

Result<graph::Graph> Builder::build(const NetText& net) {
  graph_.name = net.name;
  for (const Layer& layer : net.layers) {
    if (const std::string reason = refusal_of(layer.type); !reason.empty()) {
      unsupported_.push_back(
          format("{}: {} '{}': {}", layer.text.where(), layer.type, layer.name, reason));
      unknown_.insert(layer.tops.begin(), layer.tops.end());
      continue;
    }
    if (needs_weights(layer) && (!weights_ || !weights_->contains(layer.name))) {
      without_weights_.push_back(layer.name);
      unknown_.insert(layer.tops.begin(), layer.tops.end());
      continue;
    }
    const auto lost = [&](const std::string& name) { return unknown_.contains(name); };
    if (std::any_of(layer.bottoms.begin(), layer.bottoms.end(), lost)) {
      unknown_.insert(layer.tops.begin(), layer.tops.end());
      continue;
    }
    Status status = add_layer(layer);
    if (status.ok()) continue;
    // Everything that is missing is reported at once; what is wrong ends the walk.
    if (status.code() == Code::unsupported_op || status.code() == Code::unsupported_dtype) {
      unsupported_.push_back(
          format("{}: {} '{}': {}", layer.text.where(), layer.type, layer.name, status.message()));
    } else {
      return status.with_note(
          format("in layer '{}' ({}) at {}", layer.name, layer.type, layer.text.where()));
    }
    unknown_.insert(layer.tops.begin(), layer.tops.end());
  }
  ANYNPU_TRY(report());
  ANYNPU_TRY(add_outputs());
  ANYNPU_TRY(graph_.verify());
  return std::move(graph_);
}

Status Builder::find_bottoms(const Layer& layer) {
  bottoms_.clear();
  for (const std::string& name : layer.bottoms) {
    const auto found = blobs_.find(name);
    if (found == blobs_.end()) {
      return fail(Code::corrupt_model,
                  "bottom '{}' is the top of no layer before it; correct the name, or move the "
                  "layer behind the one that makes it",
                  name);
    }
    found->second.used = true;
    bottoms_.push_back(found->second.id);
  }
  return {};
}

Status Builder::add_layer(const Layer& layer) {
  layer_ = &layer;
  ANYNPU_TRY(check_layer_fields(layer.text));
  if (layer.type == "Input") return add_input(layer);
  ANYNPU_TRY(find_bottoms(layer));
  tops_.assign(layer.tops.size(), graph::kNoValue);
  const size_t first_node = graph_.nodes.size();
  const size_t first_value = graph_.values.size();
  const LayerFunction function = layer_function(layer.type);
  Status status = function(*this);
  for (size_t i = 0; status.ok() && i < tops_.size(); ++i) {
    if (tops_[i] == graph::kNoValue) {
      status = fail(Code::unsupported_feature,
                    "it has {} tops, and its type makes none for '{}'; take that top out",
                    layer.tops.size(), layer.tops[i]);
      break;
    }
    // A top needs its own value, which gets its name.
    const bool taken = static_cast<size_t>(tops_[i]) < first_value ||
                       graph_.values[static_cast<size_t>(tops_[i])].constant ||
                       std::count(tops_.begin(), tops_.end(), tops_[i]) > 1;
    if (!taken) continue;
    auto copy = add("Identity", {tops_[i]});
    if (copy.ok()) tops_[i] = *copy;
    status = copy.status();
  }
  if (!status.ok()) {
    graph_.nodes.resize(first_node);
    return status;
  }
  name_nodes(first_node);
  for (size_t i = 0; i < tops_.size(); ++i) bind(layer.tops[i], tops_[i]);
  return {};
}

// The node that makes the first top has the name of the layer, the others add their operator. Tops
// that are no outputs of that node keep the name they have in the net.
void Builder::name_nodes(size_t first_node) {
  std::string name = layer_->name;
  size_t named = 0;  // how many tops the node of that name makes, in their order
  for (size_t n = first_node; n < graph_.nodes.size(); ++n) {
    graph::Node& node = graph_.nodes[n];
    const bool last = !tops_.empty() && node.outputs[0] == tops_[0];
    node.name = node_names_.take(last ? layer_->name : format("{}/{}", layer_->name, node.op));
    if (!last) continue;
    name = node.name;
    const auto [differs, end] =
        std::mismatch(tops_.begin(), tops_.end(), node.outputs.begin(), node.outputs.end());
    named = static_cast<size_t>(differs - tops_.begin());
  }
  for (size_t i = named; i < tops_.size(); ++i)
    graph_.values[static_cast<size_t>(tops_[i])].source = format("{}:{}", name, i);
}

void Builder::bind(const std::string& top, ValueId id) {
  Value& value = graph_.values[static_cast<size_t>(id)];
  const auto found = blobs_.find(top);
  if (found == blobs_.end()) {
    order_.push_back(top);
    value.name = value_names_.take(top);
    blobs_[top] = {id, false};
    return;
  }
  // An in-place layer: the newest value has the name, so that outputs are called as in the net.
  Value& before = graph_.values[static_cast<size_t>(found->second.id)];
  const bool is_input = contains(graph_.inputs, found->second.id);
  if (is_input || before.name != top) {
    value.name = value_names_.take(format("{}/{}", top, layer_->name));
  } else {
    value.name = top;
    before.name = value_names_.take(format("{}/before_{}", top, layer_->name));
  }
  found->second = {id, false};
}

Status Builder::add_input(const Layer& layer) {
  for (size_t i = 0; i < layer.tops.size(); ++i) {
    Value value;
    value.name = value_names_.take(layer.tops[i]);
    value.dtype = DType::f32;
    const auto given = shapes_.find(layer.tops[i]);
    if (given != shapes_.end()) {
      value.shape = given->second;
    } else if (i < layer.in_shapes.size()) {
      value.shape = layer.in_shapes[i];
    } else {
      return fail(Code::unsupported_shape,
                  "input '{}' has no shape in the prototxt; give it with --input_shape=\"{}:...\"",
                  layer.tops[i], layer.tops[i]);
    }
    value.has_shape = true;
    ANYNPU_TRY(check_extents(value.shape));
    const ValueId id = graph_.add_value(std::move(value));
    graph_.inputs.push_back(id);
    if (!blobs_.emplace(layer.tops[i], Top{id, false}).second) {
      return fail(Code::corrupt_model,
                  "input '{}' is there twice; give every input a name of its own", layer.tops[i]);
    }
    order_.push_back(layer.tops[i]);
  }
  return {};
}

// As in Caffe: every blob that no layer takes.
Status Builder::add_outputs() {
  for (const std::string& name : order_) {
    const Top& top = blobs_.at(name);
    const bool is_input = contains(graph_.inputs, top.id);
    if (!top.used && !is_input) graph_.outputs.push_back(top.id);
  }
  if (graph_.inputs.empty()) {
    return fail(Code::corrupt_model,
                "the net has no inputs; add a layer of type Input, as a deploy prototxt has");
  }
  if (graph_.outputs.empty()) {
    return fail(Code::corrupt_model,
                "the net has no outputs: every top is the bottom of another layer; expected one "
                "that is not, or name outputs with --out_nodes");
  }
  return {};
}

Status Builder::report() const {
  if (!unsupported_.empty()) {
    std::string list;
    for (const std::string& line : unsupported_) list += "\n  " + line;
    return fail(Code::unsupported_op,
                "{} layers of the net are not supported:{}\nRewrite or cut these parts of the net",
                unsupported_.size(), list);
  }
  if (without_weights_.empty()) return {};
  std::string list;
  for (size_t i = 0; i < without_weights_.size() && i < 20; ++i) {
    list += (i ? ", '" : "'") + without_weights_[i] + "'";
  }
  if (without_weights_.size() > 20) list += ", ...";
  if (!weights_) {
    return fail(Code::invalid_argument,
                "{} layers need weights and no file was given: {}; give the .caffemodel with "
                "--weight",
                without_weights_.size(), list);
  }
  return fail(Code::not_found,
              "{} layers have no weights in the caffemodel: {}; expected layers of these names, "
              "give the .caffemodel that belongs to this prototxt",
              without_weights_.size(), list);
}

Result<graph::Graph> import_memory(std::string_view prototxt, std::span<const std::byte> weights,
                                   const InputShapes& shapes, const LayerTypes& types,
                                   std::string_view file) {
  ANYNPU_ASSIGN(NetText net, read_net(prototxt, file), "while reading the prototxt");
  for (Layer& layer : net.layers) {
    const auto found = types.find(layer.type);
    if (found != types.end()) layer.type = found->second;
  }
  Weights read;
  if (!weights.empty()) {
    ANYNPU_ASSIGN(read, read_weights(weights), "while reading the caffemodel");
  }
  return Builder(weights.empty() ? nullptr : &read, shapes).build(net);
}

Result<graph::Graph> import_files(const std::string& prototxt, const std::string& weights,
                                  const InputShapes& shapes, const LayerTypes& types) {
  ANYNPU_ASSIGN(const auto text, MappedFile::open(prototxt), "while opening the Caffe prototxt");
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> file;
  if (!weights.empty()) {
    ANYNPU_ASSIGN(file, MappedFile::open(weights), "while opening the Caffe weights");
    bytes = file->bytes();
    const ModelKind kind = kind_of(bytes);
    const bool unsure = kind == ModelKind::unknown || kind == ModelKind::text;
    if (kind != ModelKind::caffemodel && !unsure) {
      return fail(Code::file_invalid, "--weight '{}' {}; expected a .caffemodel", weights,
                  advice_for(kind));
    }
  }
  const auto characters = text->bytes();
  ANYNPU_TRY(check_kind(characters, 0), "while reading '{}'", prototxt);
  ANYNPU_ASSIGN(graph::Graph graph,
                import_memory({reinterpret_cast<const char*>(characters.data()), characters.size()},
                              bytes, shapes, types, prototxt),
                "while reading the Caffe model '{}'{}", prototxt,
                weights.empty() ? "" : format(" with the weights '{}'", weights));
  return graph;
}

}  // namespace anynpu::caffe
