// SPDX-License-Identifier: Apache-2.0
// The datasets of one execution at a time of a model: buffers for its inputs and outputs, and the
// gear or shapes chosen. A session has one; a pipeline has several, so that copies of one execution
// overlap with the computation of another. Not thread-safe; a context of the model must be current.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "aclruntime/aipp.h"
#include "aclruntime/model.h"
#include "aclruntime/tensor.h"

namespace anynpu::aclruntime {

// What one execution runs with. Lists are in the order of the model's data inputs.
struct Shapes {
  enum class Kind { fixed, batch, image, dims, ranges };
  Kind kind = Kind::fixed;
  std::vector<int64_t> gear;                 // batch; height, width; all axes of all inputs
  std::vector<std::vector<int64_t>> inputs;  // ranges
  std::vector<size_t> bytes;                 // that each input has to have
};

// One input: host memory to copy, or a tensor.
struct Feed {
  const void* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<DeviceMemory> device;  // used in place when set
};

struct ExecTime {
  double start = 0, end = 0;  // milliseconds
};

class Binding {
 public:
  explicit Binding(const Model& model) : model_(model) {}
  ~Binding();

  // Number and sizes of the feeds against what the shapes need.
  static Failure check(const Model& model, const std::vector<Feed>& feeds, const Shapes& shapes);

  Failure set_shapes(const Shapes& shapes);
  Failure set_aipp(const Aipp& aipp);
  // Copies or binds checked feeds.
  Failure put(const std::vector<Feed>& feeds);
  // Input `input` becomes output `output` of the last execution: copied, or the same memory.
  Failure feed_back(size_t input, size_t output, size_t bytes, bool copy);
  // Runs `loop` times. `sizes`: bytes of each output, overriding the model's; may be shorter than
  // the list of outputs.
  Failure execute(const std::vector<size_t>& sizes, int loop, std::vector<ExecTime>& times);
  // The outputs of the last execution, still on the device.
  Failure outputs(std::vector<Tensor>& tensors);

  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

 private:
  struct Slot {
    aclDataBuffer* buffer = nullptr;
    std::shared_ptr<DeviceMemory> bound;                 // what the buffer points at
    std::shared_ptr<DeviceMemory> own;                   // inputs: where feeds are copied to
    std::array<std::shared_ptr<DeviceMemory>, 2> spare;  // outputs: reused when unreferenced
  };
  Failure make();
  Failure own_memory(Slot& slot, size_t bytes);
  Failure bind(Slot& slot, std::shared_ptr<DeviceMemory> memory);
  Failure bind_output(Slot& slot, size_t bytes);
  Failure describe_output(size_t index, Tensor& tensor) const;

  const Model& model_;
  const unsigned start_ = current_start();
  aclmdlDataset* input_set_ = nullptr;
  aclmdlDataset* output_set_ = nullptr;
  std::vector<Slot> inputs_, outputs_;
  Shapes::Kind kind_ = Shapes::Kind::fixed;
  bool has_run_ = false;
};

}  // namespace anynpu::aclruntime
