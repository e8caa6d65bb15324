// SPDX-License-Identifier: Apache-2.0
// For the fuzzers: a model that was read is also run. Models that ask for more memory than a test
// should take are left out; loops end soon.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "../hostile/guarded_memory.h"
#include "exec/shaped_model.h"
#include "om/model.h"

namespace anynpu::fuzz {

constexpr size_t kMostBytes = 1 << 20;  // of a tensor, and of all that a run works in
constexpr size_t kMostGears = 2;

// Bytes of the input, over and over.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> data) : data_(data) {}
  uint8_t next() { return data_.empty() ? 0 : data_[at_++ % data_.size()]; }

 private:
  std::span<const uint8_t> data_;
  size_t at_ = 0;
};

inline void run_loaded(exec::LoadedModel& model, Bytes& bytes) {
  if (model.sizes().work_bytes > kMostBytes || model.sizes().weight_bytes > kMostBytes) return;
  std::deque<hostile::GuardedMemory> memory;
  std::vector<exec::Buffer> buffers[2];
  for (const auto* tensors : {&model.inputs(), &model.outputs()}) {
    const bool output = tensors == &model.outputs();
    for (const exec::TensorInfo& info : *tensors) {
      const size_t size = info.dynamic_shape ? 4096 : info.bytes;
      if (size > kMostBytes) return;
      const hostile::GuardedMemory& block = memory.emplace_back(size);
      if (!block.data()) return;
      for (size_t i = 0; i < size && !output; ++i) block.data()[i] = std::byte{bytes.next()};
      buffers[output].push_back({block.data(), size});
    }
  }
  const Status status = model.run(buffers[0], buffers[1]);
  if (!status.ok() && status.to_string().empty()) std::abort();  // every failure has a sentence
  for (const auto& block : memory) {
    if (!block.end_is_intact()) {
      std::fprintf(stderr, "wrote behind the end of a buffer\n");
      std::abort();
    }
  }
}

// One shape that an input with ranges may have.
inline Shape some_shape(const om::TensorInfo& info, Bytes& bytes) {
  Shape shape = info.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 0) continue;
    const int64_t low = i < info.ranges.size() ? info.ranges[i].first : 1;
    shape[i] = low + bytes.next() % 4;
  }
  return shape;
}

inline void run_model(om::Model read, std::span<const uint8_t> data) {
  static const int once = setenv("ANYNPU_LOOP_LIMIT", "100", 1);
  (void)once;
  Bytes bytes(data);
  const auto model = std::make_shared<const om::Model>(std::move(read));
  if (!model->meta.has_ranges()) {
    const auto sizes = exec::ShapedModel::query(*model);
    if (!sizes.ok() || sizes->work_bytes > kMostBytes) return;
  }
  auto loaded = exec::ShapedModel::load(model);
  if (!loaded.ok()) return;
  if (!(*loaded)->has_ranges()) {
    const size_t gears = model->meta.has_gears() ? model->meta.gears.size() : 1;
    for (size_t i = 0; i < gears && i < kMostGears; ++i) run_loaded((*loaded)->gear(i), bytes);
    return;
  }
  std::vector<Shape> shapes;
  for (const om::TensorInfo& info : model->meta.inputs) {
    if (info.role == om::Role::data) shapes.push_back(some_shape(info, bytes));
  }
  for (const Shape& shape : shapes) {
    if (element_count(shape) > static_cast<int64_t>(kMostBytes)) return;
  }
  auto plan = (*loaded)->for_shapes(shapes);
  if (plan.ok()) run_loaded(**plan, bytes);
}

}  // namespace anynpu::fuzz
