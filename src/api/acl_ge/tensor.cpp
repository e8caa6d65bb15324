// SPDX-License-Identifier: Apache-2.0
#include "graph/tensor.h"

#include <cstring>
#include <utility>

namespace ge {

class ShapeImpl {
 public:
  std::vector<int64_t> dims;
};

class TensorDescImpl {
 public:
  std::vector<int64_t> shape, origin_shape;
  Format format = FORMAT_ND, origin_format = FORMAT_ND;
  DataType type = DT_FLOAT;
  int64_t real_dims = 0;
  Placement placement = kPlacementHost;
};

class TensorImpl {
 public:
  using Bytes = std::unique_ptr<uint8_t[], Tensor::DeleteFunc>;
  TensorDesc desc;
  Bytes data{nullptr, [](uint8_t*) {}};
  size_t size = 0;

  void copy(const uint8_t* bytes, size_t count) {
    data = Bytes(new uint8_t[count], [](uint8_t* block) { delete[] block; });
    if (count != 0) std::memcpy(data.get(), bytes, count);
    size = count;
  }
};

class TensorTypeImpl {
 public:
  std::vector<DataType> types;
};

Shape::Shape() : impl_(std::make_shared<ShapeImpl>()) {}
Shape::Shape(const std::vector<int64_t>& dims) : impl_(std::make_shared<ShapeImpl>()) {
  impl_->dims = dims;
}

size_t Shape::GetDimNum() const { return impl_ ? impl_->dims.size() : 0; }
int64_t Shape::GetDim(size_t index) const { return index < GetDimNum() ? impl_->dims[index] : 0; }
std::vector<int64_t> Shape::GetDims() const { return impl_ ? impl_->dims : std::vector<int64_t>(); }

graphStatus Shape::SetDim(size_t index, int64_t value) {
  if (index >= GetDimNum()) return GRAPH_FAILED;
  impl_->dims[index] = value;
  return GRAPH_SUCCESS;
}

int64_t Shape::GetShapeSize() const {
  int64_t size = 1;
  for (const int64_t dim : GetDims()) {
    if (dim < 0 || __builtin_mul_overflow(size, dim, &size)) return -1;
  }
  return size;
}

TensorDesc::TensorDesc() : impl_(std::make_shared<TensorDescImpl>()) {}
TensorDesc::TensorDesc(Shape shape, Format format, DataType type) : TensorDesc() {
  impl_->shape = impl_->origin_shape = shape.GetDims();
  impl_->format = impl_->origin_format = format;
  impl_->type = type;
}
TensorDesc::TensorDesc(const TensorDesc& other)
    : impl_(other.impl_ ? std::make_shared<TensorDescImpl>(*other.impl_) : nullptr) {}
TensorDesc::TensorDesc(TensorDesc&& other) = default;
TensorDesc& TensorDesc::operator=(TensorDesc&& other) {
  impl_ = std::move(other.impl_);
  return *this;
}
TensorDesc& TensorDesc::operator=(const TensorDesc& other) { return *this = TensorDesc(other); }

namespace {

// What a description refers to; one that was moved from gets a new one.
TensorDescImpl& of(std::shared_ptr<TensorDescImpl>& impl) {
  if (!impl) impl = std::make_shared<TensorDescImpl>();
  return *impl;
}

const TensorDescImpl& of(const std::shared_ptr<TensorDescImpl>& impl) {
  static const TensorDescImpl kEmpty;
  return impl ? *impl : kEmpty;
}

}  // namespace

void TensorDesc::SetShape(const Shape& shape) { of(impl_).shape = shape.GetDims(); }
Shape TensorDesc::GetShape() const { return Shape(of(impl_).shape); }
void TensorDesc::SetOriginShape(const Shape& shape) { of(impl_).origin_shape = shape.GetDims(); }
Shape TensorDesc::GetOriginShape() const { return Shape(of(impl_).origin_shape); }
void TensorDesc::SetFormat(Format format) { of(impl_).format = format; }
Format TensorDesc::GetFormat() const { return of(impl_).format; }
void TensorDesc::SetOriginFormat(Format format) { of(impl_).origin_format = format; }
Format TensorDesc::GetOriginFormat() const { return of(impl_).origin_format; }
void TensorDesc::SetDataType(DataType type) { of(impl_).type = type; }
DataType TensorDesc::GetDataType() const { return of(impl_).type; }
void TensorDesc::SetRealDimCnt(const int64_t count) { of(impl_).real_dims = count; }
int64_t TensorDesc::GetRealDimCnt() const { return of(impl_).real_dims; }
void TensorDesc::SetPlacement(Placement placement) { of(impl_).placement = placement; }
Placement TensorDesc::GetPlacement() const { return of(impl_).placement; }

Tensor::Tensor() : impl_(std::make_shared<TensorImpl>()) {}
Tensor::Tensor(const TensorDesc& desc) : Tensor() { impl_->desc = desc; }
Tensor::Tensor(const TensorDesc& desc, const uint8_t* data, size_t size) : Tensor(desc) {
  SetData(data, size);
}
Tensor::Tensor(const TensorDesc& desc, const std::vector<uint8_t>& data)
    : Tensor(desc, data.data(), data.size()) {}

TensorDesc Tensor::GetTensorDesc() const { return impl_ ? impl_->desc : TensorDesc(); }
graphStatus Tensor::SetTensorDesc(const TensorDesc& desc) {
  if (!impl_) impl_ = std::make_shared<TensorImpl>();
  impl_->desc = desc;
  return GRAPH_SUCCESS;
}

const uint8_t* Tensor::GetData() const { return impl_ ? impl_->data.get() : nullptr; }
uint8_t* Tensor::GetData() { return impl_ ? impl_->data.get() : nullptr; }
size_t Tensor::GetSize() const { return impl_ ? impl_->size : 0; }

graphStatus Tensor::SetData(const uint8_t* data, size_t size) {
  if (data == nullptr && size != 0) return GRAPH_PARAM_INVALID;
  if (!impl_) impl_ = std::make_shared<TensorImpl>();
  impl_->copy(data, size);
  return GRAPH_SUCCESS;
}

graphStatus Tensor::SetData(const std::vector<uint8_t>& data) {
  return SetData(data.data(), data.size());
}

// Texts behind one another: a pair of 64-bit numbers each, where it begins and how long it is,
// then the characters, each text ended by a zero.
graphStatus Tensor::SetData(const std::vector<AscendString>& texts) {
  std::vector<uint64_t> heads;
  std::vector<uint8_t> characters;
  for (const AscendString& text : texts) {
    heads.push_back(texts.size() * 2 * sizeof(uint64_t) + characters.size());
    heads.push_back(text.GetLength());
    characters.insert(characters.end(), text.GetString(), text.GetString() + text.GetLength());
    characters.push_back(0);
  }
  std::vector<uint8_t> bytes(heads.size() * sizeof(uint64_t));
  if (!heads.empty()) std::memcpy(bytes.data(), heads.data(), bytes.size());
  bytes.insert(bytes.end(), characters.begin(), characters.end());
  return SetData(bytes.data(), bytes.size());
}

graphStatus Tensor::SetData(uint8_t* data, size_t size, const DeleteFunc& free_data) {
  if (data == nullptr || !free_data) return GRAPH_PARAM_INVALID;
  if (!impl_) impl_ = std::make_shared<TensorImpl>();
  impl_->data = TensorImpl::Bytes(data, free_data);
  impl_->size = size;
  return GRAPH_SUCCESS;
}

std::unique_ptr<uint8_t[], Tensor::DeleteFunc> Tensor::ResetData() {
  if (!impl_) return {nullptr, [](uint8_t*) {}};
  impl_->size = 0;
  TensorImpl::Bytes bytes{nullptr, [](uint8_t*) {}};
  bytes.swap(impl_->data);
  return bytes;
}

TensorType::TensorType(DataType type) : TensorType({type}) {}
TensorType::TensorType(const std::initializer_list<DataType>& types)
    : impl_(std::make_shared<TensorTypeImpl>()) {
  impl_->types = types;
}

Promote::Promote(const std::initializer_list<const char*>& names)
    : names_(std::make_shared<std::vector<std::string>>(names.begin(), names.end())) {}

}  // namespace ge
