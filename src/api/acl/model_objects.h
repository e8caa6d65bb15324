// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of aclmdl functions. Programs share them between threads, so each
// guards itself.
#pragma once

#include <algorithm>
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
#include "base/read_mostly.h"
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
// the next execution: a gear, shapes, AIPP. Owns the tensor descriptions alone. Executions read it
// without a lock.
class Dataset {
 public:
  // What a setter chose; it counts for the model it was called with.
  struct Choice {
    uint32_t model_id = 0;
    size_t value = 0;
  };
  // Where the parameters of dynamic AIPP were written to, and the pictures N, H, W, C they make.
  struct AippChoice {
    uint32_t model_id = 0;
    size_t index = 0;  // of the buffer
    Shape picture;
  };
  struct Described {
    size_t index;
    std::shared_ptr<TensorDesc> desc;
    Handle handle;
  };
  // All of it at one moment.
  struct Contents {
    std::vector<Handle> buffers;
    std::vector<Described> descs;
    std::vector<AippChoice> aipp;
    std::vector<Choice> gears;  // one a model

    // 0 when there is no such index.
    Handle at(size_t index) const { return index < buffers.size() ? buffers[index] : 0; }
    // Null when none was chosen, or set.
    const Choice* gear(uint32_t model_id) const {
      return find(gears, [&](const Choice& choice) { return choice.model_id == model_id; });
    }
    const AippChoice* picture(uint32_t model_id, size_t index) const {
      return find(aipp, [&](const AippChoice& choice) {
        return choice.model_id == model_id && choice.index == index;
      });
    }
    const Described* desc(size_t index) const {
      return find(descs, [&](const Described& entry) { return entry.index == index; });
    }

   private:
    template <typename T, typename Match>
    static const T* find(const std::vector<T>& list, Match match) {
      const auto found = std::find_if(list.begin(), list.end(), match);
      return found == list.end() ? nullptr : &*found;
    }
  };

  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  ~Dataset() {
    const auto contents = read();
    for (const Described& entry : contents->descs)
      HandleTable::instance().remove<TensorDesc>(entry.handle);
  }

  // Keep it for as long as it takes to look at, and no longer.
  ReadMostly<Contents>::Reading read() const { return contents_.read(); }

  void add(Handle buffer) {
    contents_.change([&](Contents& contents) { contents.buffers.push_back(buffer); });
  }
  // The setters of gears and AIPP are called before every run: what was chosen already is not
  // chosen anew.
  void choose_gear(const Choice& choice);
  void mark_aipp(const AippChoice& choice);
  // The description of one tensor, as the program sets it.
  void describe(size_t index, std::shared_ptr<TensorDesc> desc);
  // The same as an execution found it. A description that says so already stays, and nothing is
  // allocated.
  void describe_found(size_t index, const om::TensorInfo& info, DType dtype, const Shape& shape);
  // A handle that stays valid until the description is replaced; 0 when there is none.
  Handle desc_handle(size_t index);

 private:
  ReadMostly<Contents> contents_;
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
