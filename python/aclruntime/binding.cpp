// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/binding.h"

#include <algorithm>
#include <cstdio>

#include "aclruntime/copy_times.h"
#include "aclruntime/log.h"
#include "aclruntime/stage.h"

namespace anynpu::aclruntime {

namespace {

std::string place(const char* side, size_t index, const TensorInfo& info) {
  return std::string(side) + " " + std::to_string(index) + " ('" + info.name + "')";
}

bool is_open(const std::vector<int64_t>& shape) {
  return std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
}

// A dataset with `count` empty buffers, which the caller owns.
Failure make_dataset(size_t count, aclmdlDataset*& set, std::vector<aclDataBuffer*>& buffers) {
  set = aclmdlCreateDataset();
  if (set == nullptr) return acl_failure(ACL_ERROR_INVALID_PARAM, "making a dataset");
  for (size_t i = 0; i < count; ++i) {
    aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, 0);
    if (buffer == nullptr) return acl_failure(ACL_ERROR_INVALID_PARAM, "making a data buffer");
    buffers.push_back(buffer);
    if (const aclError error = aclmdlAddDatasetBuffer(set, buffer)) {
      return acl_failure(error, "adding a buffer to a dataset");
    }
  }
  return {};
}

// On one line of the terminal, at most 20 times a second, after two seconds with the rate and the
// time that is left; DEBUG lines say it all by themselves.
void show_progress(int done, int loop, double began) {
  static thread_local double last = -1000;
  const double now = now_ms();
  if (!logs(LogLevel::info) || logs(LogLevel::debug) || (done != loop && now - last < 50)) return;
  last = now;
  char rest[64] = "";
  const double rate = done / std::max((now - began) / 1000, 1e-9);
  const bool is_long = now - began > 2000;
  if (is_long && done < loop) {
    std::snprintf(rest, sizeof rest, ", %.3g a second, %.0f s left", rate, (loop - done) / rate);
  }
  // What a long line said before may be longer.
  std::printf("\rloop inference exec: (%d/%d)%-*s%s", done, loop, is_long ? 36 : 0, rest,
              done == loop ? "\n" : "");
  std::fflush(stdout);
}

}  // namespace

Binding::~Binding() {
  if (start_ != current_start()) return;
  for (const auto* slots : {&inputs_, &outputs_}) {
    for (const Slot& slot : *slots) {
      if (slot.buffer != nullptr) aclDestroyDataBuffer(slot.buffer);
    }
  }
  if (input_set_ != nullptr) aclmdlDestroyDataset(input_set_);
  if (output_set_ != nullptr) aclmdlDestroyDataset(output_set_);
}

Failure Binding::make() {
  if (input_set_ != nullptr) return {};
  std::vector<aclDataBuffer*> in, out;
  Failure failure = make_dataset(model_.inputs().size(), input_set_, in);
  if (!failure) failure = make_dataset(model_.outputs().size(), output_set_, out);
  for (aclDataBuffer* buffer : in) inputs_.push_back({buffer, {}, {}, {}});
  for (aclDataBuffer* buffer : out) outputs_.push_back({buffer, {}, {}, {}});
  if (failure) return failure;
  for (size_t i = model_.data_inputs(); i < inputs_.size(); ++i) {  // gear and AIPP
    if (Failure problem = own_memory(inputs_[i], model_.inputs()[i].size)) return problem;
  }
  return {};
}

Failure Binding::bind(Slot& slot, std::shared_ptr<DeviceMemory> memory) {
  if (slot.bound == memory) return {};
  if (const aclError error = aclUpdateDataBuffer(slot.buffer, memory->data(), memory->bytes())) {
    return acl_failure(error, "binding a buffer");
  }
  slot.bound = std::move(memory);
  return {};
}

Failure Binding::own_memory(Slot& slot, size_t bytes) {
  if (!slot.own || slot.own->bytes() < bytes) {
    if (Failure failure = DeviceMemory::allocate(bytes, model_.context().device(), slot.own)) {
      return failure;
    }
  }
  return bind(slot, slot.own);
}

Failure Binding::check(const Model& model, const std::vector<Feed>& feeds, const Shapes& shapes) {
  if (feeds.size() != model.data_inputs()) {
    return {kRuntime, std::to_string(feeds.size()) + " inputs were given, the model has " +
                          std::to_string(model.data_inputs()) + "; give one for each, in order"};
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].bytes != shapes.bytes[i]) {
      return {kGeneral, place("input", i, model.inputs()[i]) + " was given " +
                            std::to_string(feeds[i].bytes) + " bytes, the model needs " +
                            std::to_string(shapes.bytes[i]) +
                            "; check shape and type of the data, and the mode"};
    }
    if (feeds[i].device && feeds[i].device->device() != model.context().device()) {
      return {kBadArgument, place("input", i, model.inputs()[i]) + " is a tensor on device " +
                                std::to_string(feeds[i].device->device()) +
                                ", the session is on device " +
                                std::to_string(model.context().device()) +
                                "; move it with to_host() and to_device()"};
    }
  }
  return {};
}

Failure Binding::set_shapes(const Shapes& shapes) {
  if (Failure failure = make()) return failure;
  kind_ = shapes.kind;
  aclError error = ACL_SUCCESS;
  const auto gear = static_cast<size_t>(model_.gear_input());
  const auto extent = [&shapes](size_t i) { return static_cast<uint64_t>(shapes.gear[i]); };
  switch (shapes.kind) {
    case Shapes::Kind::fixed:
      return {};
    case Shapes::Kind::batch:
      error = aclmdlSetDynamicBatchSize(model_.id(), input_set_, gear, extent(0));
      break;
    case Shapes::Kind::image:
      error = aclmdlSetDynamicHWSize(model_.id(), input_set_, gear, extent(0), extent(1));
      break;
    case Shapes::Kind::dims: {
      aclmdlIODims dims{};
      dims.dimCount = shapes.gear.size();
      for (size_t i = 0; i < shapes.gear.size(); ++i) dims.dims[i] = shapes.gear[i];
      error = aclmdlSetInputDynamicDims(model_.id(), input_set_, gear, &dims);
      break;
    }
    case Shapes::Kind::ranges:
      for (size_t i = 0; error == ACL_SUCCESS && i < shapes.inputs.size(); ++i) {
        const TensorInfo& info = model_.inputs()[i];
        aclTensorDesc* desc =
            aclCreateTensorDesc(info.dtype, static_cast<int>(shapes.inputs[i].size()),
                                shapes.inputs[i].data(), static_cast<aclFormat>(info.format));
        error = aclmdlSetDatasetTensorDesc(input_set_, desc, i);
        aclDestroyTensorDesc(desc);
      }
      break;
  }
  return error == ACL_SUCCESS ? Failure{} : acl_failure(error, "choosing the shape");
}

Failure Binding::set_aipp(const Aipp& aipp) {
  if (Failure failure = make()) return failure;
  return apply(aipp, model_, input_set_);
}

Failure Binding::put(const std::vector<Feed>& feeds) {
  const Stage stage("host to device");
  if (Failure failure = make()) return failure;
  for (size_t i = 0; i < feeds.size(); ++i) {
    const Feed& feed = feeds[i];
    if (feed.device) {
      if (Failure failure = bind(inputs_[i], feed.device)) return failure;
      continue;
    }
    if (Failure failure = own_memory(inputs_[i], feed.bytes)) return failure;
    if (Failure failure = timed_copy(inputs_[i].own->data(), inputs_[i].own->bytes(), feed.data,
                                     feed.bytes, CopyKind::to_device)) {
      failure.message = place("input", i, model_.inputs()[i]) + ": " + failure.message;
      return failure;
    }
  }
  return {};
}

Failure Binding::feed_back(size_t input, size_t output, size_t bytes, bool copy) {
  if (!has_run_) {
    return {kRuntime, "nothing has run yet whose outputs could be fed back; call first_inner_run"};
  }
  Tensor tensor;
  if (Failure failure = describe_output(output, tensor)) return failure;
  if (tensor.bytes != bytes) {
    return {kGeneral, place("output", output, model_.outputs()[output]) + " has " +
                          std::to_string(tensor.bytes) + " bytes, " +
                          place("input", input, model_.inputs()[input]) + " needs " +
                          std::to_string(bytes) + "; feed back an output of the same size"};
  }
  if (!copy) return bind(inputs_[input], tensor.device);
  if (Failure failure = own_memory(inputs_[input], bytes)) return failure;
  return timed_copy(inputs_[input].own->data(), bytes, tensor.device->data(), bytes,
                    CopyKind::on_device);
}

// Memory that a tensor or an input still holds is not written again; two spares are enough for an
// output that is fed back without a copy.
Failure Binding::bind_output(Slot& slot, size_t bytes) {
  slot.bound.reset();
  const auto free = [&](const auto& memory) {
    return memory && memory.use_count() == 1 && memory->bytes() == bytes;
  };
  for (auto& memory : slot.spare) {
    if (free(memory)) return bind(slot, memory);
  }
  auto& place = slot.spare[0] && slot.spare[0].use_count() > 1 ? slot.spare[1] : slot.spare[0];
  if (Failure failure = DeviceMemory::allocate(bytes, model_.context().device(), place)) {
    return failure;
  }
  return bind(slot, place);
}

Failure Binding::execute(const std::vector<size_t>& sizes, int loop, std::vector<ExecTime>& times) {
  const Stage stage("compute");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const size_t bytes = i < sizes.size() && sizes[i] != 0 ? sizes[i] : model_.outputs()[i].size;
    if (bytes == 0 && is_open(model_.outputs()[i].shape)) {
      return {kNoOutputSize, place("output", i, model_.outputs()[i]) +
                                 " has no size of its own; set its bytes with custom_sizes or "
                                 "set_custom_outsize, or on the command line with --outputSize"};
    }
    if (Failure failure = bind_output(outputs_[i], bytes)) return failure;
  }
  const double began = now_ms();
  for (int i = 0; i < loop; ++i) {
    ExecTime time;
    time.start = now_ms();
    const aclError error = aclmdlExecute(model_.id(), input_set_, output_set_);
    time.end = now_ms();
    if (error != ACL_SUCCESS) return acl_failure(error, "the execution of the model");
    times.push_back(time);
    if (loop > 1) show_progress(i + 1, loop, began);
    if (logs(LogLevel::debug)) {
      char text[64];
      std::snprintf(text, sizeof text, "model aclExec cost : %.6f", time.end - time.start);
      log_line(LogLevel::debug, text);
    }
  }
  has_run_ = true;
  return {};
}

Failure Binding::describe_output(size_t index, Tensor& tensor) const {
  const TensorInfo& info = model_.outputs()[index];
  tensor.dtype = info.dtype;
  tensor.device = outputs_[index].bound;
  tensor.place = TensorMemory::device;
  const size_t item = aclDataTypeSize(info.dtype);
  const aclTensorDesc* desc =
      kind_ == Shapes::Kind::ranges ? aclmdlGetDatasetTensorDesc(output_set_, index) : nullptr;
  if (desc != nullptr) {
    for (size_t i = 0, count = aclGetTensorDescNumDims(desc); i < count; ++i) {
      int64_t extent = 0;
      if (const aclError error = aclGetTensorDescDimV2(desc, i, &extent)) {
        return acl_failure(error, "reading the shape of " + place("output", index, info));
      }
      tensor.shape.push_back(extent);
    }
  } else {
    aclmdlIODims dims;
    if (const aclError error = aclmdlGetCurOutputDims(model_.desc(), index, &dims)) {
      return acl_failure(error, "reading the shape of " + place("output", index, info));
    }
    tensor.shape.assign(dims.dims, dims.dims + dims.dimCount);
  }
  tensor.bytes = elements(tensor.shape) * item;
  if (tensor.bytes > tensor.device->bytes()) {  // no shape that fits: as it lies in memory
    tensor.bytes = tensor.device->bytes();
    tensor.shape = {static_cast<int64_t>(tensor.bytes / item)};
  }
  return {};
}

Failure Binding::outputs(std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Tensor tensor;
    if (Failure failure = describe_output(i, tensor)) return failure;
    tensors.push_back(std::move(tensor));
  }
  return {};
}

}  // namespace anynpu::aclruntime
