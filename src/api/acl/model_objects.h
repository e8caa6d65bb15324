// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of aclmdl functions. Programs share them between threads, so each
// guards itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "om/model.h"

namespace anynpu::acl {

enum class TensorSide { input, output };

inline const char* name_of(TensorSide side) {
  return side == TensorSide::input ? "input" : "output";
}

inline const std::vector<om::TensorInfo>& tensors_of(const om::Meta& meta, TensorSide side) {
  return side == TensorSide::input ? meta.inputs : meta.outputs;
}

// What aclmdlGetDesc filled in; empty before.
class ModelDesc {
 public:
  void fill(std::shared_ptr<const om::Meta> meta, uint32_t model_id) {
    const std::lock_guard lock(mutex_);
    // Names that were handed out stay valid until the description is destroyed.
    if (meta_) earlier_.push_back(std::move(meta_));
    meta_ = std::move(meta);
    model_id_ = model_id;
  }
  // Fails before the description was filled.
  Result<std::shared_ptr<const om::Meta>> meta() const {
    const std::lock_guard lock(mutex_);
    if (meta_) return meta_;
    return fail(Code::bad_call_order,
                "the model description is empty; call aclmdlGetDesc with a loaded model first");
  }
  uint32_t model_id() const { return model_id_; }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const om::Meta> meta_;
  std::vector<std::shared_ptr<const om::Meta>> earlier_;
  std::atomic<uint32_t> model_id_{0};
};

// The data buffers of a model's inputs or outputs, in order of their index. Owns nothing.
class Dataset {
 public:
  void add(Handle buffer) {
    const std::lock_guard lock(mutex_);
    buffers_.push_back(buffer);
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return buffers_.size();
  }
  // 0 when there is no such index.
  Handle at(size_t index) const {
    const std::lock_guard lock(mutex_);
    return index < buffers_.size() ? buffers_[index] : 0;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Handle> buffers_;
};

// What aclmdlLoadWithConfig loads and how.
struct ModelConfig {
  mutable std::mutex mutex;
  size_t load_type = 0;
  std::string path;
  std::string weight_path;
  const void* memory = nullptr;
  size_t memory_size = 0;
  void* weight = nullptr;
  size_t weight_size = 0;
  void* work = nullptr;
  size_t work_size = 0;
  int32_t priority = 0;
  size_t work_optimize = 0;
};

// Options of one execution (aclmdlExecuteV2).
struct ExecConfig {
  std::atomic<int32_t> stream_timeout_ms{-1};
  std::atomic<int32_t> event_timeout_ms{-1};
  std::atomic<int32_t> priority{0};
};

}  // namespace anynpu::acl

namespace anynpu {
ANYNPU_HANDLE_TYPE(acl::ModelDesc, model_desc);
ANYNPU_HANDLE_TYPE(acl::Dataset, dataset);
ANYNPU_HANDLE_TYPE(acl::ModelConfig, model_config);
ANYNPU_HANDLE_TYPE(acl::ExecConfig, exec_config);
}  // namespace anynpu
