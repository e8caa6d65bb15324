// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/model.h"

#include <memory>

#include "aclruntime/log.h"

namespace anynpu::aclruntime {

namespace {

std::string text(const char* name) { return name != nullptr ? name : ""; }

std::vector<int64_t> extents(const aclmdlIODims& dims) {
  return {dims.dims, dims.dims + dims.dimCount};
}

}  // namespace

Failure Model::load(const ModelFile& file, std::shared_ptr<Context> context,
                    std::unique_ptr<Model>& model) {
  std::unique_ptr<Model> made(new Model);
  made->context_ = std::move(context);
  made->start_ = current_start();
  if (const aclError error = aclmdlLoadFromFile(file.path.c_str(), &made->id_)) {
    return acl_failure_as(kInvalidParameter, error, "loading the model '" + file.name + "'");
  }
  made->loaded_ = true;
  log_line(LogLevel::info, "load model " + file.name + " success");
  if (Failure failure = made->describe()) return failure;
  log_line(LogLevel::info, "create model description success");
  model = std::move(made);
  return {};
}

Model::~Model() {
  if (start_ != current_start()) return;  // AscendCL has ended since, and the model with it
  if (Failure failure = context_->use()) return;
  if (desc_ != nullptr) aclmdlDestroyDesc(desc_);
  if (loaded_ && aclmdlUnload(id_) == ACL_SUCCESS) {
    log_line(LogLevel::info, "unload model success, model Id is " + std::to_string(id_));
  }
}

Failure Model::describe() {
  desc_ = aclmdlCreateDesc();
  if (const aclError error = aclmdlGetDesc(desc_, id_)) {
    return acl_failure(error, "describing the model");
  }
  auto dims = std::make_unique<aclmdlIODims>();
  for (size_t i = 0, count = aclmdlGetNumInputs(desc_); i < count; ++i) {
    TensorInfo info{text(aclmdlGetInputNameByIndex(desc_, i)),
                    aclmdlGetInputDataType(desc_, i),
                    aclmdlGetInputFormat(desc_, i),
                    {},
                    aclmdlGetInputSizeByIndex(desc_, i)};
    if (const aclError error = aclmdlGetInputDims(desc_, i, dims.get())) {
      return acl_failure(error, "reading the shape of input " + std::to_string(i));
    }
    info.shape = extents(*dims);
    if (info.name == ACL_DYNAMIC_TENSOR_NAME) {
      gear_input_ = static_cast<int>(i);
    } else if (info.name.starts_with(ACL_DYNAMIC_AIPP_NAME)) {
      aipp_inputs_.push_back(i);
    } else {
      data_inputs_ = i + 1;
    }
    inputs_.push_back(std::move(info));
  }
  for (size_t i = 0, count = aclmdlGetNumOutputs(desc_); i < count; ++i) {
    TensorInfo info{text(aclmdlGetOutputNameByIndex(desc_, i)),
                    aclmdlGetOutputDataType(desc_, i),
                    aclmdlGetOutputFormat(desc_, i),
                    {},
                    aclmdlGetOutputSizeByIndex(desc_, i)};
    if (const aclError error = aclmdlGetOutputDims(desc_, i, dims.get())) {
      return acl_failure(error, "reading the shape of output " + std::to_string(i));
    }
    info.shape = extents(*dims);
    outputs_.push_back(std::move(info));
  }
  return gear_input_ < 0 ? Failure{} : describe_gears();
}

Failure Model::describe_gears() {
  constexpr size_t kAll = static_cast<size_t>(-1);  // of the whole model
  auto batch = std::make_unique<aclmdlBatch>();
  if (const aclError error = aclmdlGetDynamicBatch(desc_, batch.get())) {
    return acl_failure(error, "reading the batch gears");
  }
  batches_.assign(batch->batch, batch->batch + batch->batchCount);
  auto image = std::make_unique<aclmdlHW>();
  if (const aclError error = aclmdlGetDynamicHW(desc_, kAll, image.get())) {
    return acl_failure(error, "reading the image gears");
  }
  for (size_t i = 0; i < image->hwCount; ++i) images_.push_back({image->hw[i][0], image->hw[i][1]});
  size_t count = 0;
  if (const aclError error = aclmdlGetInputDynamicGearCount(desc_, kAll, &count)) {
    return acl_failure(error, "counting the dims gears");
  }
  if (count == 0) return {};
  std::vector<aclmdlIODims> gears(count);
  if (const aclError error = aclmdlGetInputDynamicDims(desc_, kAll, gears.data(), count)) {
    return acl_failure(error, "reading the dims gears");
  }
  for (const aclmdlIODims& gear : gears) dims_.push_back(extents(gear));
  return {};
}

}  // namespace anynpu::aclruntime
