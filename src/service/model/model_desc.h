// SPDX-License-Identifier: Apache-2.0
// The description of a model for programs: names, types, formats, shapes and sizes of its inputs
// and outputs. Empty until it is filled. Programs share descriptions between threads, so each
// guards itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle_table.h"
#include "om/model.h"
#include "service/model/tensor_side.h"

namespace anynpu::service {

// The longest name that fits into the structure of the documents; longer ones are abbreviated.
constexpr size_t kLongestTensorName = 127;
// The attribute of an operator that lists the source model's operators that it replaces.
constexpr std::string_view kOriginalNamesAttribute = "_datadump_original_op_names";

// One input or output; keeps the description it belongs to alive.
struct DescribedTensor {
  std::shared_ptr<const om::Meta> meta;
  const om::TensorInfo* info;
  uint32_t model_id;
  TensorSide side;
  size_t index;

  // Its name, or "acl_modelId_1_input_0" for one that is too long; ModelDesc::real_name turns that
  // back.
  std::string short_name() const;
};

class ModelDesc {
 public:
  Status fill(uint32_t model_id);
  Status fill_from_file(const char* path);
  Status fill_from_memory(const void* model, size_t size);

  // The others fail with bad_call_order before the description was filled.
  Result<std::shared_ptr<const om::Meta>> meta() const;
  Result<size_t> count(TensorSide side) const;
  Result<DescribedTensor> tensor(TensorSide side, size_t index) const;
  // By the whole name, the short one, or the last part of "node:index:tensor".
  Result<size_t> index_of(TensorSide side, std::string_view name) const;
  // Of an input or output by any of these names. Valid as long as the description.
  Result<const char*> real_name(std::string_view name) const;
  // Valid as long as the description.
  Result<const char*> op_attribute(std::string_view op, std::string_view attribute);

 private:
  void fill(std::shared_ptr<const om::Meta> meta, uint32_t model_id);

  mutable std::mutex mutex_;
  std::set<std::string> returned_texts_;
  std::shared_ptr<const om::Meta> meta_;
  // Names that were returned stay valid until the description is destroyed.
  std::vector<std::shared_ptr<const om::Meta>> earlier_;
  std::atomic<uint32_t> model_id_{0};
};

// A tensor of the description behind a handle.
Result<DescribedTensor> find_tensor(Handle desc, TensorSide side, size_t index);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::ModelDesc, model_desc);
}
