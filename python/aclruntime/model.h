// SPDX-License-Identifier: Apache-2.0
// A loaded model and what it says about itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclruntime/failure.h"
#include "aclruntime/runtime.h"

namespace anynpu::aclruntime {

struct TensorInfo {
  std::string name;
  aclDataType dtype = ACL_DT_UNDEFINED;
  int format = 0;
  std::vector<int64_t> shape;
  size_t size = 0;  // bytes of the largest gear; 0 where the shape is a range
};

struct ModelFile {
  std::string path;
  std::string name;  // as the user wrote it
};

class Model {
 public:
  static Failure load(const ModelFile& file, std::shared_ptr<Context> context,
                      std::unique_ptr<Model>& model);
  ~Model();

  uint32_t id() const { return id_; }
  aclmdlDesc* desc() const { return desc_; }
  const Context& context() const { return *context_; }

  // All inputs that AscendCL counts; the first data_inputs() of them are the user's.
  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }
  size_t data_inputs() const { return data_inputs_; }
  int gear_input() const { return gear_input_; }                           // -1: no gears
  const std::vector<size_t>& aipp_inputs() const { return aipp_inputs_; }  // dynamic AIPP

  const std::vector<uint64_t>& batches() const { return batches_; }
  const std::vector<std::vector<uint64_t>>& images() const { return images_; }
  const std::vector<std::vector<int64_t>>& dims() const { return dims_; }

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

 private:
  Model() = default;
  Failure describe();
  Failure describe_gears();
  std::shared_ptr<Context> context_;
  unsigned start_ = 0;
  uint32_t id_ = 0;
  bool loaded_ = false;
  aclmdlDesc* desc_ = nullptr;
  std::vector<TensorInfo> inputs_, outputs_;
  size_t data_inputs_ = 0;
  int gear_input_ = -1;
  std::vector<size_t> aipp_inputs_;
  std::vector<uint64_t> batches_;
  std::vector<std::vector<uint64_t>> images_;  // height, width
  std::vector<std::vector<int64_t>> dims_;     // all axes of all inputs
};

}  // namespace anynpu::aclruntime
