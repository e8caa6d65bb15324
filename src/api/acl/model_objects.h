// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of aclmdl functions. Programs share them between threads, so each
// guards itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/handle_table.h"
#include "om/model.h"
#include "ops/aipp/params.h"
#include "tensor/tensor_desc.h"

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
  // Keeps a text that is handed out until the description is destroyed.
  const char* keep(std::string text) {
    const std::lock_guard lock(mutex_);
    return texts_.insert(std::move(text)).first->c_str();
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> texts_;
  std::shared_ptr<const om::Meta> meta_;
  std::vector<std::shared_ptr<const om::Meta>> earlier_;
  std::atomic<uint32_t> model_id_{0};
};

// The data buffers of a model's inputs or outputs, in order of their index, and what was chosen for
// the next execution: a gear, shapes, AIPP. Owns the tensor descriptions alone.
class Dataset {
 public:
  // What a setter chose; it counts for the model it was called with.
  struct Choice {
    uint32_t model_id = 0;
    size_t value = 0;
  };

  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  ~Dataset() {
    for (const Described& entry : descs_) HandleTable::instance().remove<TensorDesc>(entry.handle);
  }

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

  void choose_gear(Choice choice) {
    const std::lock_guard lock(mutex_);
    for (Choice& earlier : gears_) {
      if (earlier.model_id != choice.model_id) continue;
      earlier = choice;
      return;
    }
    gears_.push_back(choice);
  }
  // `otherwise` when none was chosen for this model.
  size_t gear(uint32_t model_id, size_t otherwise) const {
    const std::lock_guard lock(mutex_);
    for (const Choice& choice : gears_) {
      if (choice.model_id == model_id) return choice.value;
    }
    return otherwise;
  }

  // The parameters of dynamic AIPP were written to the buffer `index`; pictures of the shape N, H,
  // W, C come out.
  void mark_aipp(uint32_t model_id, size_t index, const Shape& picture) {
    const std::lock_guard lock(mutex_);
    for (AippChoice& choice : aipp_) {
      if (choice.model_id != model_id || choice.index != index) continue;
      choice.picture = picture;
      return;
    }
    aipp_.push_back({model_id, index, picture});
  }
  // Sets `picture` to what was marked; it stays as it is when nothing was.
  void get_aipp_picture(uint32_t model_id, size_t index, Shape& picture) const {
    const std::lock_guard lock(mutex_);
    for (const AippChoice& choice : aipp_) {
      if (choice.model_id == model_id && choice.index == index) picture = choice.picture;
    }
  }
  bool has_aipp(uint32_t model_id, size_t index) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(aipp_.begin(), aipp_.end(), [&](const AippChoice& choice) {
      return choice.model_id == model_id && choice.index == index;
    });
  }

  // The description of one tensor, as the program sets it.
  void describe(size_t index, std::shared_ptr<TensorDesc> desc) {
    const std::lock_guard lock(mutex_);
    replace(index, std::move(desc));
  }
  // The same as an execution found it. A description that says so already stays, and nothing is
  // allocated.
  void describe_found(size_t index, const om::TensorInfo& info, DType dtype, const Shape& shape) {
    const std::lock_guard lock(mutex_);
    for (const Described& entry : descs_) {
      const TensorDesc& desc = *entry.desc;
      if (entry.index == index && desc.dtype == dtype && desc.format == info.format &&
          desc.shape == shape && desc.name == info.name)
        return;
    }
    auto desc = std::make_shared<TensorDesc>();
    desc->dtype = dtype;
    desc->format = info.format;
    desc->shape = shape;
    desc->name = info.name;
    replace(index, std::move(desc));
  }
  std::shared_ptr<const TensorDesc> desc(size_t index) const {
    const std::lock_guard lock(mutex_);
    for (const Described& entry : descs_) {
      if (entry.index == index) return entry.desc;
    }
    return nullptr;
  }
  bool has_descs() const {
    const std::lock_guard lock(mutex_);
    return !descs_.empty();
  }
  // A handle that stays valid until the description is replaced; 0 when there is none.
  Handle desc_handle(size_t index) {
    const std::lock_guard lock(mutex_);
    for (Described& entry : descs_) {
      if (entry.index != index) continue;
      if (!HandleTable::instance().find<TensorDesc>(entry.handle))
        entry.handle = HandleTable::instance().insert(entry.desc);
      return entry.handle;
    }
    return 0;
  }

 private:
  struct Described {
    size_t index;
    std::shared_ptr<TensorDesc> desc;
    Handle handle;
  };
  // With mutex_ held.
  void replace(size_t index, std::shared_ptr<TensorDesc> desc) {
    for (Described& entry : descs_) {
      if (entry.index != index) continue;
      HandleTable::instance().remove<TensorDesc>(std::exchange(entry.handle, 0));
      entry.desc = std::move(desc);
      return;
    }
    descs_.push_back({index, std::move(desc), 0});
  }

  mutable std::mutex mutex_;
  std::vector<Handle> buffers_;
  std::vector<Described> descs_;
  struct AippChoice {
    uint32_t model_id = 0;
    size_t index = 0;  // of the buffer
    Shape picture;
  };
  std::vector<AippChoice> aipp_;
  std::vector<Choice> gears_;  // one a model
};

// What aclmdlLoadWithConfig loads and how.
struct ModelConfig {
  mutable std::mutex mutex;
  size_t load_type = 0;
  std::string path;
  std::string weight_path;
  std::map<std::string, std::pair<void*, size_t>> weight_files;  // by name: memory of the program
  const void* memory = nullptr;
  size_t memory_size = 0;
  void* weight = nullptr;
  size_t weight_size = 0;
  void* work = nullptr;
  size_t work_size = 0;
  const uint32_t* input_queues = nullptr;  // read when the model is loaded
  size_t input_queue_count = 0;
  const uint32_t* output_queues = nullptr;
  size_t output_queue_count = 0;
};

// Parameters of dynamic AIPP for the pictures of a batch (aclmdlAIPP).
struct AippSet {
  explicit AippSet(size_t batches) : batches(batches) {
    header.batches = static_cast<int8_t>(batches);
    for (ops::AippBatch& batch : this->batches) {
      for (size_t i = 0; i < 4; ++i) batch.set_variance(i, 1);
    }
  }
  mutable std::mutex mutex;
  ops::AippHeader header;
  std::vector<ops::AippBatch> batches;
};

// Options of one execution (aclmdlExecuteV2).
struct ExecConfig {
  std::atomic<int32_t> stream_timeout_ms{-1};
  std::atomic<void*> work{nullptr};  // memory for the work of the run; null: the model's
  std::atomic<size_t> work_size{0};
};

}  // namespace anynpu::acl

namespace anynpu {
ANYNPU_HANDLE_TYPE(acl::ModelDesc, model_desc);
ANYNPU_HANDLE_TYPE(acl::Dataset, dataset);
ANYNPU_HANDLE_TYPE(acl::ModelConfig, model_config);
ANYNPU_HANDLE_TYPE(acl::ExecConfig, exec_config);
ANYNPU_HANDLE_TYPE(acl::AippSet, aipp);
}  // namespace anynpu
