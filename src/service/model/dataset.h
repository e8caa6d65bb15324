// SPDX-License-Identifier: Apache-2.0
// The data buffers of a model's inputs or outputs, in order of their index, and the settings of the
// next execution: a gear, shapes, AIPP. Programs share datasets between threads: each guards
// itself, and executions read it without a lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/handle_table.h"
#include "base/read_mostly.h"
#include "om/model.h"
#include "tensor/tensor_desc.h"

namespace anynpu::service {

// Owns its tensor descriptions, but neither the buffers nor their memory.
class Dataset {
 public:
  // The gear of the next execution of one model.
  struct GearChoice {
    uint32_t model_id = 0;
    size_t gear = 0;
  };
  // The input with the parameters of dynamic AIPP, the pictures N, H, W, C they make, and the bytes
  // of one picture that goes in.
  struct AippChoice {
    uint32_t model_id = 0;
    size_t input = 0;
    Shape picture;
    int64_t bytes = 0;
  };
  struct Description {
    size_t index;
    std::shared_ptr<TensorDesc> desc;
    Handle handle;  // 0 until a program asks for it
  };
  // All of it at one moment.
  struct Contents {
    std::vector<Handle> buffers;
    std::vector<Description> descs;
    std::vector<AippChoice> aipp;
    std::vector<GearChoice> gears;  // one a model

    // 0 when there is no such index.
    Handle at(size_t index) const { return index < buffers.size() ? buffers[index] : 0; }
    // Null when none was chosen, or set.
    const GearChoice* gear(uint32_t model_id) const {
      return find(gears, [&](const GearChoice& choice) { return choice.model_id == model_id; });
    }
    const AippChoice* picture(uint32_t model_id, size_t input) const {
      return find(aipp, [&](const AippChoice& choice) {
        return choice.model_id == model_id && choice.input == input;
      });
    }
    const Description* desc(size_t index) const {
      return find(descs, [&](const Description& entry) { return entry.index == index; });
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
  ~Dataset();

  // Keep the read short (base/read_mostly.h).
  ReadMostly<Contents>::Reading read() const { return contents_.read(); }

  // Appends a buffer; fails when the handle is none of a data buffer.
  Status add(Handle buffer);
  // Fails with invalid_argument when there is no such index.
  Result<Handle> buffer(size_t index) const;
  // The setters of gears and AIPP are called before every run: setting the same value again is
  // free.
  void choose_gear(const GearChoice& choice);
  void choose_aipp(const AippChoice& choice);
  // The description of one tensor, as the program sets it. Copied: the program may destroy its own
  // at once. Fails for an index without a buffer.
  Status set_desc(size_t index, const TensorDesc& desc);
  // The actual shape of an output after an execution. Nothing is allocated if it has not
  // changed.
  void set_found_desc(size_t index, const om::TensorInfo& info, DType dtype, const Shape& shape);
  // A handle that stays valid until the description is replaced; fails when there is none.
  Result<Handle> desc_handle(size_t index);

 private:
  void replace_desc(size_t index, std::shared_ptr<TensorDesc> desc);
  ReadMostly<Contents> contents_;
};

// Fails when one of the handles is wrong, or the index has no buffer.
Status set_dataset_desc(Handle dataset, Handle desc, size_t index);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::Dataset, dataset);
}
