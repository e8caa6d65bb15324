// SPDX-License-Identifier: Apache-2.0
#include "service/model/binding.h"

#include <algorithm>
#include <mutex>

#include "base/log.h"
#include "service/model/aipp.h"
#include "service/model/tensor_side.h"
#include "tensor/data_buffer.h"

namespace anynpu::service {

namespace {

// What the buffer of one tensor must hold.
struct BufferNeed {
  const std::string& name;
  size_t bytes;
  DType dtype;
  const Shape& shape;
  bool dynamic_shape = false;  // the size is known after the run: the whole buffer may be used
};

std::string note_of(TensorSide side, size_t index, const std::string& name) {
  return format("in {} {} ('{}') of the dataset", name_of(side), index, name);
}

// The buffer of one tensor; fails when it was destroyed or is too small.
Result<DataBuffer> find_buffer(Handle handle, const BufferNeed& need, TensorSide side,
                               size_t index) {
  auto buffer = resolve<DataBuffer>(handle);
  if (!buffer.ok()) return buffer.status().with_note(note_of(side, index, need.name));
  const DataBuffer data = **buffer;
  if (data.size >= need.bytes) return data;
  return fail(mismatch_of(side),
              "{} {} ('{}') has a buffer of {} bytes, the model needs {} ({} {}); allocate what "
              "the description says",
              name_of(side), index, need.name, data.size, need.bytes, anynpu::name_of(need.dtype),
              to_string(need.shape));
}

Status check_buffer_count(const Dataset& dataset, TensorSide side, const om::Meta& meta) {
  const size_t count = dataset.read()->buffers.size(), expected = tensors_of(meta, side).size();
  if (count == expected) return {};
  const char* what = name_of(side);
  return fail(mismatch_of(side),
              "the {} dataset has {} buffers, the model '{}' has {} {}s; add one buffer for "
              "each, in order of their index",
              what, count, meta.name, expected, what);
}

// Before a plan is made for shapes, which takes time and memory: their buffers must hold them.
// Those of pictures have other sizes than their shape says.
Status check_buffer_sizes(const Dataset::Contents& contents, const om::Meta& meta,
                          std::span<const Shape> shapes) {
  constexpr auto kMost = static_cast<int64_t>(SIZE_MAX / 64);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool picture = std::any_of(meta.aipp.begin(), meta.aipp.end(),
                                     [&](const om::Aipp& one) { return one.input == i; });
    if (picture) continue;
    const om::TensorInfo& info = meta.inputs[i];
    const int64_t count = std::min(element_count(shapes[i]), kMost);
    const BufferNeed need{info.name, bytes_of(info.dtype, static_cast<size_t>(count)), info.dtype,
                          shapes[i]};
    ANYNPU_TRY(find_buffer(contents.at(i), need, TensorSide::input, i).status());
  }
  return {};
}

// Dynamic AIPP has no defaults: the parameters must have been set with this dataset.
Status check_aipp_set(uint32_t model_id, const Dataset& dataset, const om::Meta& meta) {
  const auto contents = dataset.read();
  for (size_t i = 0; i < meta.inputs.size(); ++i) {
    if (meta.inputs[i].role != om::Role::aipp || contents->picture(model_id, i)) continue;
    return fail(Code::aipp_not_set,
                "input {} ('{}') of the model '{}' has no parameters; call aclmdlSetInputAIPP or "
                "aclmdlSetAIPPByInputIndex with this dataset first",
                i, meta.inputs[i].name, meta.name);
  }
  return {};
}

size_t count_data_inputs(const om::Meta& meta) {
  size_t count = 0;
  while (count < meta.inputs.size() && meta.inputs[count].role == om::Role::data) ++count;
  return count;
}

// The shape of one input with a range, as it was set. Inputs with dynamic AIPP have the shape that
// its parameters make.
Status choose_shape(uint32_t model_id, const Dataset::Contents& contents, const om::Meta& meta,
                    size_t input, Shape& shape) {
  const auto aipp = std::find_if(meta.aipp.begin(), meta.aipp.end(), [&](const om::Aipp& one) {
    return one.dynamic && one.input == input;
  });
  if (aipp != meta.aipp.end()) {
    const auto which = static_cast<size_t>(aipp - meta.aipp.begin());
    const auto* made = contents.picture(model_id, aipp_parameter_index(meta, which));
    if (made) shape = made->picture;
    return {};
  }
  const om::TensorInfo& info = meta.inputs[input];
  const Dataset::Description* const set = contents.desc(input);
  if (!set && !is_static(info.shape)) {
    return fail(Code::bad_call_order,
                "input {} ('{}') has the shape {}, which comes at run time; call "
                "aclmdlSetDatasetTensorDesc with the shape of this execution first",
                input, info.name, to_string(info.shape));
  }
  shape = set ? set->desc->shape : info.shape;
  return {};
}

}  // namespace

void Binding::clear() {
  model_.reset();
  shaped_plan_.reset();
  open_outputs_.reset();
  work_ = {};
  inputs_.clear();
  outputs_.clear();
  owners_.clear();
}

Status Binding::run(device::Queue* queue) {
  std::unique_lock<std::mutex> turn;
  if (model_->shaped->shares_work() && !work_.data)
    turn = std::unique_lock(model_->shaped->work_turn());
  Status status =
      loaded_->run(inputs_, outputs_, open_outputs_ ? &output_shapes_ : nullptr, work_, queue);
  if (!status.ok()) [[unlikely]]
    FailedOps::instance().note(model_->ops);
  // Also when a buffer was too small: the description says what to allocate.
  if (open_outputs_ && (status.ok() || status.code() == Code::output_mismatch)) describe_outputs();
  return status;
}

void Binding::describe_outputs() const {
  for (size_t i = 0; i < output_shapes_.size(); ++i) {
    open_outputs_->set_found_desc(i, model_->meta->outputs[i], loaded_->outputs()[i].dtype,
                                  output_shapes_[i]);
  }
}

Status Binding::bind_memory(const void* address, size_t bytes, TensorSide side,
                            exec::Buffer& bound) {
  bound = {};
  if (bytes == 0) return {};
  const auto access = side == TensorSide::input ? device::Access::read : device::Access::write;
  ANYNPU_ASSIGN(auto range, device::check_range(address, bytes, access, name_of(side)));
  bound = {range.address, bytes};
  if (range.owner) owners_.push_back(std::move(range.owner));
  return {};
}

// Pictures for dynamic AIPP need as many bytes as those of this gear have, of the size that was
// set; the plan counts max_src_image_size.
size_t Binding::bytes_needed(uint32_t model_id, const Dataset::Contents& contents, size_t input,
                             size_t planned) const {
  const om::Meta& meta = *model_->meta;
  for (size_t i = 0; i < meta.aipp.size(); ++i) {
    if (!meta.aipp[i].dynamic || meta.aipp[i].input != input || meta.has_ranges()) continue;
    const auto* const set = contents.picture(model_id, aipp_parameter_index(meta, i));
    if (!set) break;
    const int64_t bytes = aipp_batch(meta, meta.aipp[i], gear_) * set->bytes;
    return std::min(planned, static_cast<size_t>(bytes));
  }
  return planned;
}

Status Binding::bind_dataset(uint32_t model_id, const Dataset& dataset, TensorSide side) {
  const auto contents = dataset.read();
  const auto& infos = tensors_of(*model_->meta, side);
  const auto& planned = side == TensorSide::input ? loaded_->inputs() : loaded_->outputs();
  const bool pictures = side == TensorSide::input && !model_->meta->aipp.empty();
  size_t next = 0;  // of the plan
  for (size_t i = 0; i < infos.size(); ++i) {
    // The input that a gear is written to is not one of the plan.
    const bool extra = infos[i].role == om::Role::gear || next >= planned.size();
    const exec::TensorInfo* const plan = extra ? nullptr : &planned[next++];
    BufferNeed need{infos[i].name, extra ? size_t{infos[i].size} : plan->bytes, infos[i].dtype,
                    extra ? infos[i].shape : plan->shape, !extra && plan->dynamic_shape};
    if (pictures) need.bytes = bytes_needed(model_id, *contents, i, need.bytes);
    const auto data = find_buffer(contents->at(i), need, side, i);
    if (!data.ok()) return data.status();
    exec::Buffer bound;
    const Status status =
        bind_memory(data->data, need.dynamic_shape ? data->size : need.bytes, side, bound);
    if (!status.ok()) return status.with_note(note_of(side, i, need.name));
    // AIPP reads no further than the pictures reach.
    if (pictures && !extra) bound.bytes = std::max(bound.bytes, plan->bytes);
    if (!extra) (side == TensorSide::input ? inputs_ : outputs_).push_back(bound);
  }
  return {};
}

Status Binding::choose_shapes(uint32_t model_id, const Dataset& dataset) {
  const auto contents = dataset.read();
  const om::Meta& meta = *model_->meta;
  input_shapes_.resize(count_data_inputs(meta));
  for (size_t i = 0; i < input_shapes_.size(); ++i)
    ANYNPU_TRY(choose_shape(model_id, *contents, meta, i, input_shapes_[i]));
  ANYNPU_TRY(model_->shaped->check_shapes(input_shapes_));
  return check_buffer_sizes(*contents, meta, input_shapes_);
}

// A new plan is made while nothing is being read.
Status Binding::choose_shaped_plan(uint32_t model_id, const Dataset& dataset) {
  ANYNPU_TRY(choose_shapes(model_id, dataset));
  ANYNPU_ASSIGN(shaped_plan_, model_->shaped->for_shapes(input_shapes_));
  loaded_ = shaped_plan_.get();
  return {};
}

Status Binding::choose_plan(uint32_t model_id, const Dataset& dataset) {
  exec::ShapedModel& shaped = *model_->shaped;
  const om::Meta& meta = *model_->meta;
  if (!meta.aipp.empty()) ANYNPU_TRY(check_aipp_set(model_id, dataset, meta));
  if (shaped.has_ranges()) return choose_shaped_plan(model_id, dataset);
  if (!meta.has_gears()) {
    loaded_ = &shaped.gear(0);
    return {};
  }
  const auto contents = dataset.read();
  if (!contents->descs.empty()) {
    return fail(Code::invalid_argument,
                "the model '{}' has gears and its dataset tensor descriptions; only one of "
                "aclmdlSetDynamicBatchSize, aclmdlSetDynamicHWSize, aclmdlSetInputDynamicDims and "
                "aclmdlSetDatasetTensorDesc may be used with one model",
                meta.name);
  }
  const Dataset::GearChoice* const chosen = contents->gear(model_id);
  if (!chosen) {
    ANYNPU_LOG(warning,
               "no gear was set for the model '{}' with this dataset; the largest, {}, is used",
               meta.name, to_string(meta.gears[shaped.largest_gear()]));
  }
  gear_ = chosen ? chosen->gear : shaped.largest_gear();
  loaded_ = &shaped.gear(gear_);
  return {};
}

bool Binding::has_open_outputs() const {
  const auto& outputs = loaded_->outputs();
  return model_->meta->has_ranges() ||
         std::any_of(outputs.begin(), outputs.end(),
                     [](const exec::TensorInfo& info) { return info.dynamic_shape; });
}

Status Binding::bind(const ExecuteCall& call, const device::Device& device) {
  {
    ANYNPU_ASSIGN(auto model, ModelTable::instance().find(call.model_id));
    model_ = model.share();
  }
  if (model_->device_id != device.id()) {
    return fail(Code::wrong_context,
                "model {} was loaded on device {}, the current context or stream is of device {}; "
                "execute it where it was loaded",
                call.model_id, model_->device_id, device.id());
  }
  ANYNPU_ASSIGN(auto inputs, resolve<Dataset>(call.inputs));
  ANYNPU_ASSIGN(auto outputs, resolve<Dataset>(call.outputs));
  ANYNPU_TRY(check_buffer_count(*inputs, TensorSide::input, *model_->meta));
  ANYNPU_TRY(check_buffer_count(*outputs, TensorSide::output, *model_->meta));
  ANYNPU_TRY(choose_plan(call.model_id, *inputs));
  ANYNPU_TRY(bind_dataset(call.model_id, *inputs, TensorSide::input));
  ANYNPU_TRY(bind_dataset(call.model_id, *outputs, TensorSide::output));
  open_outputs_ = has_open_outputs() ? outputs.share() : nullptr;
  return {};
}

Status Binding::bind_work(exec::Buffer work) {
  if (!work.data) return {};
  ANYNPU_TRY(loaded_->check_work(work), "in the configuration of the execution");
  ANYNPU_ASSIGN(auto range, device::check_range(work.data, work.bytes, device::Access::write,
                                                "ACL_MDL_WORK_ADDR_PTR"));
  work_ = {range.address, work.bytes};
  if (range.owner) owners_.push_back(std::move(range.owner));
  return {};
}

}  // namespace anynpu::service
