// SPDX-License-Identifier: Apache-2.0
// One GPU: its index, its properties and its primary context, which cuBLAS, cuDNN and other CUDA
// code in the process share. Never destroyed. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cuda/driver.h"

namespace anynpu::device::cuda {

class Gpu {
 public:
  // The GPU with index `unit`; always the same object. Fails with invalid_device and the number of
  // GPUs.
  static Result<Gpu*> find(int unit);
  // All GPUs that find() has returned so far, by index.
  static std::vector<Gpu*> used();

  int unit() const { return unit_; }
  CUdevice device() const { return device_; }
  const std::string& name() const { return name_; }
  size_t memory_bytes() const { return memory_bytes_; }
  size_t max_pitch() const { return max_pitch_; }  // of 2D copies
  const std::string& bus() const { return bus_; }  // "0000:19:00.0"
  int capability() const { return capability_; }   // 90 for compute capability 9.0

  // Makes the GPU's context current in the calling thread. Call it before any driver call, because
  // other CUDA code in the process may have changed the context. Takes about 30 ns.
  Status enter() const;

 private:
  Gpu(int unit, CUdevice device) : unit_(unit), device_(device) {}
  Status open();

  const int unit_;
  const CUdevice device_;
  CUcontext context_ = nullptr;
  std::string name_, bus_;
  size_t memory_bytes_ = 0;
  size_t max_pitch_ = 0;
  int capability_ = 0;
};

}  // namespace anynpu::device::cuda
