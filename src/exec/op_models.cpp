// SPDX-License-Identifier: Apache-2.0
#include "exec/op_models.h"

#include <algorithm>

#include "aclnn/fuse.h"
#include "compile/passes.h"
#include "compile/single_op.h"
#include "device/host_view.h"
#include "import/singleop/table.h"

namespace anynpu::exec {

namespace {

using singleop::SingleOp;

// Whether the shapes of `given` are within the ranges that `model` was compiled for.
bool covers(const std::vector<TensorDesc>& model, const std::vector<TensorDesc>& given) {
  for (size_t i = 0; i < model.size(); ++i) {
    for (size_t d = 0; d < model[i].shape.size(); ++d) {
      const int64_t extent = given[i].shape[d];
      const auto [low, high] = model[i].range_of(d);
      if (extent >= 0 && (extent < low || (high >= 0 && extent > high))) return false;
    }
  }
  return true;
}

// Some extent of a tensor is unknown (-1).
bool has_dynamic_shape(const SingleOp& op) {
  const auto dynamic = [](const TensorDesc& desc) { return !is_static(desc.shape); };
  return std::any_of(op.inputs.begin(), op.inputs.end(), dynamic) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), dynamic);
}

}  // namespace

Result<std::shared_ptr<OpModel>> OpModel::load(om::Model model, const LoadOptions& options) {
  auto made = std::make_shared<OpModel>();
  ANYNPU_ASSIGN(made->op_, compile::single_op_of(model.meta));
  for (size_t i = 0; i < made->op_.inputs.size(); ++i) {
    if (made->op_.has_input(i) && !made->op_.inputs[i].is_constant) made->fed_.push_back(i);
  }
  for (size_t o = 0; o < made->op_.outputs.size(); ++o) {
    if (made->op_.has_output(o)) made->made_.push_back(o);
  }
  if (made->made_.size() != model.graph.outputs.size()) {
    return fail(Code::corrupt_model, "the model '{}' has {} outputs, its description {}",
                model.meta.name, model.graph.outputs.size(), made->made_.size());
  }
  if (made->fed_.size() != model.graph.inputs.size()) {
    return fail(Code::corrupt_model, "the model '{}' has {} inputs, its description {}",
                model.meta.name, model.graph.inputs.size(), made->fed_.size());
  }
  made->source_ = std::make_shared<const om::Model>(std::move(model));
  const singleop::VendorOp* row = singleop::find_vendor_op(made->op_.type);
  if (!row) {
    return fail(Code::unsupported_op, "the model '{}' is of operator {}, which is not there",
                made->source_->meta.name, made->op_.type);
  }
  if (singleop::sized_by_values(*row)) return made;
  made->observer_ = options.observer;
  if (!row->writes.empty() && !options.observer) made->tile(*row);
  made->planned_.owner = options.device.get();
  ANYNPU_ASSIGN(made->planned_.shaped, ShapedModel::load(made->model_for(options.target), options));
  return made;
}

// A step of training goes through its tensors once.
void OpModel::tile(const singleop::VendorOp& row) {
  aclnn::Part part;
  part.graph = source_->graph;
  const auto place = [](const std::vector<size_t>& list, size_t index) {
    return static_cast<size_t>(std::ranges::find(list, index) - list.begin());
  };
  for (size_t o = 0; o < row.writes.size(); ++o) {
    const size_t from = place(fed_, static_cast<size_t>(row.writes[o] - '0')), to = place(made_, o);
    if (from == fed_.size() || to == made_.size()) continue;
    part.overwrites.push_back({part.graph.inputs[from], part.graph.outputs[to], true});
  }
  part.graph = aclnn::fused(part, 1);
  in_place_ = aclnn::reads_before_writing(part);
  if (!in_place_) return;
  auto tiled = std::make_shared<om::Model>(*source_);
  tiled->graph = std::move(part.graph);
  tiled_ = std::move(tiled);
}

const std::shared_ptr<const om::Model>& OpModel::model_for(const ops::Target& target) const {
  return tiled_ && target.backend == "cpu" ? tiled_ : source_;
}

Result<std::shared_ptr<ShapedModel>> OpModel::for_device(
    const std::shared_ptr<device::Device>& device) const {
  const device::Device* const owner = device ? plan_owner(*device) : nullptr;
  if (owner == planned_.owner) return planned_.shaped;
  const std::lock_guard lock(mutex_);
  for (const Planned& other : others_) {
    if (other.owner == owner) return other.shaped;
  }
  LoadOptions options;
  options.observer = observer_;
  if (device) options.run_on(device);
  ANYNPU_ASSIGN(auto shaped, ShapedModel::load(model_for(options.target), options));
  others_.push_back({owner, shaped});
  return shaped;
}

Result<std::shared_ptr<LoadedModel>> OpModel::plan_for(
    std::span<const Shape> shapes, const std::shared_ptr<device::Device>& device) const {
  ANYNPU_ASSIGN(const auto shaped, for_device(device));
  if (shaped->has_ranges()) return shaped->for_shapes(shapes);
  return shaped->only();
}

Status OpModel::run_values(std::span<const Buffer> inputs, std::span<const Shape> input_shapes,
                           std::span<const Buffer> outputs, std::vector<Shape>& shapes) const {
  graph::Graph graph = source_->graph;
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph::Value& value = graph.values[static_cast<size_t>(graph.inputs[i])];
    value.shape = input_shapes[i];
    auto copy = std::make_shared<std::vector<std::byte>>(inputs[i].bytes);
    ANYNPU_TRY(device::copy_bytes(copy->data(), inputs[i].data, inputs[i].bytes));
    value.constant = std::make_shared<const graph::Constant>(graph::Constant{copy, *copy});
  }
  graph.inputs.clear();
  for (const graph::Node& node : graph.nodes) {  // shapes that were described are only limits
    for (graph::ValueId id : node.outputs) {
      if (id != graph::kNoValue) graph.values[static_cast<size_t>(id)].has_shape = false;
    }
  }
  ANYNPU_TRY(compile::infer_and_fold(graph), "in operator {}", op_.type);
  shapes.clear();
  std::vector<std::shared_ptr<const graph::Constant>> made;  // written when all of them fit
  for (size_t o = 0; o < graph.outputs.size(); ++o) {
    const graph::Value& value = graph.values[static_cast<size_t>(graph.outputs[o])];
    if (!value.constant) {
      return fail(Code::unsupported_dtype, "{} cannot be evaluated for inputs of these types",
                  op_.type);
    }
    const TensorDesc& desc = op_.outputs[made_[o]];
    if (!desc.unknown_rank() && desc.shape.size() != value.shape.size()) {
      return fail(Code::unsupported_shape,
                  "output {} of {} is described as {}, the operator makes {}; describe {} axes", o,
                  op_.type, to_string(desc.shape), to_string(value.shape), value.shape.size());
    }
    const auto& bytes = value.constant->bytes;
    if (bytes.size() > outputs[o].bytes) {
      return fail(Code::shape_mismatch,
                  "output {} of {} has {} bytes ({}), its buffer has {}; allocate the most that "
                  "aclopInferShape gives",
                  o, op_.type, bytes.size(), to_string(value.shape), outputs[o].bytes);
    }
    made.push_back(value.constant);
    shapes.push_back(value.shape);
  }
  for (size_t o = 0; o < made.size(); ++o) {
    const auto& bytes = made[o]->bytes;
    if (bytes.empty()) continue;
    ANYNPU_TRY(device::copy_bytes(outputs[o].data, bytes.data(), bytes.size()));
  }
  return {};
}

OpModels& OpModels::instance() {
  static auto* models = new OpModels;
  return *models;
}

Status OpModels::add(om::Model model, Origin origin) {
  LoadOptions (*const source)() = source_;
  ANYNPU_ASSIGN(auto loaded, OpModel::load(std::move(model), source ? source() : LoadOptions()));
  const SingleOp& op = loaded->op();
  CachedOp entry{singleop::key_of(op), loaded, origin};
  const std::lock_guard lock(mutex_);
  if (const auto found = by_key_.find(entry.key); found != by_key_.end()) {
    if (found->second->origin == Origin::compiled) --compiled_;
    if (origin == Origin::compiled) ++compiled_;
    found->second->model = loaded;
    found->second->origin = origin;
    return {};
  }
  entries_.push_front(entry);
  by_key_[entry.key] = entries_.begin();
  if (has_dynamic_shape(op)) by_family_.emplace(singleop::family_of(op), entries_.begin());
  if (origin == Origin::compiled && ++compiled_ > most_) drop_oldest();
  return {};
}

void OpModels::drop_oldest() {
  for (auto entry = std::prev(entries_.end());; --entry) {
    if (entry->origin == Origin::compiled) {
      const auto [first, last] = by_family_.equal_range(singleop::family_of(entry->model->op()));
      for (auto at = first; at != last; ++at) {
        if (at->second != entry) continue;
        by_family_.erase(at);
        break;
      }
      by_key_.erase(entry->key);
      entries_.erase(entry);
      --compiled_;
      return;
    }
    if (entry == entries_.begin()) return;
  }
}

std::shared_ptr<OpModel> OpModels::find_now(const SingleOp& op) {
  const std::string key = singleop::key_of(op);
  const std::lock_guard lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->model;
  }
  if (by_family_.empty()) return nullptr;
  const auto [first, last] = by_family_.equal_range(singleop::family_of(op));
  for (auto at = first; at != last; ++at) {
    const SingleOp& model = at->second->model->op();
    if (!covers(model.inputs, op.inputs) || !covers(model.outputs, op.outputs)) continue;
    entries_.splice(entries_.begin(), entries_, at->second);
    return at->second->model;
  }
  return nullptr;
}

Result<std::shared_ptr<OpModel>> OpModels::find(const SingleOp& op) {
  if (auto model = find_now(op)) return model;
  std::string near;
  {
    const std::lock_guard lock(mutex_);
    for (const CachedOp& entry : entries_) {
      if (entry.model->op().type != op.type || near.size() > 400) continue;
      near += format("{}{}", near.empty() ? "" : "; ", entry.key);
    }
  }
  return fail(Code::unsupported_op,
              "no model of operator {} is loaded for {}; {}: load one with aclopSetModelDir or "
              "aclopLoad, or compile it with aclopCompile",
              op.type, singleop::key_of(op).substr(0, 400),
              near.empty() ? "there is none of this type" : "there are " + near);
}

Result<std::shared_ptr<OpModel>> OpModels::find_or_compile(const SingleOp& op) {
  if (auto model = find_now(op)) return model;
  ANYNPU_ASSIGN(om::Model model, compile::compile_single_op(op, {}));
  ANYNPU_TRY(add(std::move(model), Origin::compiled), "in operator {}", op.type);
  return find(op);
}

void OpModels::set_limit(uint64_t most) {
  const std::lock_guard lock(mutex_);
  most_ = most;
  while (compiled_ > most_) drop_oldest();
}

size_t OpModels::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void OpModels::clear() {
  const std::lock_guard lock(mutex_);
  by_family_.clear();
  by_key_.clear();
  entries_.clear();
  compiled_ = 0;
}

}  // namespace anynpu::exec
