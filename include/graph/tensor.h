/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ge::Shape, ge::TensorDesc and ge::Tensor. A copy of a Shape or a Tensor refers to the same
 * object; a copy of a TensorDesc is one of its own.
 */
#ifndef GRAPH_TENSOR_H_
#define GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"

#define GRAPH_VISIBLE __attribute__((visibility("default")))

namespace ge {

class ShapeImpl;
class TensorDescImpl;
class TensorImpl;
class TensorTypeImpl;

class GRAPH_VISIBLE Shape {
 public:
  Shape();
  ~Shape() = default;
  explicit Shape(const std::vector<int64_t>& dims);

  size_t GetDimNum() const;
  int64_t GetDim(size_t index) const;  // 0 behind the last
  graphStatus SetDim(size_t index, int64_t value);
  std::vector<int64_t> GetDims() const;
  int64_t GetShapeSize() const;  // elements; -1 while a dimension is unknown

 private:
  std::shared_ptr<ShapeImpl> impl_;
};

class GRAPH_VISIBLE TensorDesc {
 public:
  TensorDesc();
  ~TensorDesc() = default;
  explicit TensorDesc(Shape shape, Format format = FORMAT_ND, DataType type = DT_FLOAT);
  TensorDesc(const TensorDesc& other);
  TensorDesc(TensorDesc&& other);
  TensorDesc& operator=(const TensorDesc& other);
  TensorDesc& operator=(TensorDesc&& other);

  void SetShape(const Shape& shape);
  Shape GetShape() const;
  void SetOriginShape(const Shape& shape);
  Shape GetOriginShape() const;
  void SetFormat(Format format);
  Format GetFormat() const;
  void SetOriginFormat(Format format);
  Format GetOriginFormat() const;
  void SetDataType(DataType type);
  DataType GetDataType() const;
  void SetRealDimCnt(const int64_t count);
  int64_t GetRealDimCnt() const;
  void SetPlacement(Placement placement);
  Placement GetPlacement() const;

 private:
  std::shared_ptr<TensorDescImpl> impl_;
};

class GRAPH_VISIBLE Tensor {
 public:
  using DeleteFunc = std::function<void(uint8_t*)>;

  Tensor();
  ~Tensor() = default;
  explicit Tensor(const TensorDesc& desc);
  Tensor(const TensorDesc& desc, const std::vector<uint8_t>& data);
  Tensor(const TensorDesc& desc, const uint8_t* data, size_t size);

  TensorDesc GetTensorDesc() const;
  graphStatus SetTensorDesc(const TensorDesc& desc);

  const uint8_t* GetData() const;
  uint8_t* GetData();
  size_t GetSize() const;
  // The bytes are copied.
  graphStatus SetData(const uint8_t* data, size_t size);
  graphStatus SetData(const std::vector<uint8_t>& data);
  graphStatus SetData(const std::string& text);
  graphStatus SetData(const std::vector<std::string>& texts);
  graphStatus SetData(const std::vector<AscendString>& texts);
  // The bytes are referred to; `free_data` is called when the last copy of the tensor goes.
  graphStatus SetData(uint8_t* data, size_t size, const DeleteFunc& free_data);
  // Hands the bytes over to whoever holds the pointer.
  std::unique_ptr<uint8_t[], DeleteFunc> ResetData();

 private:
  std::shared_ptr<TensorImpl> impl_;
};

// The types that an input or an attribute may have.
class GRAPH_VISIBLE TensorType {
 public:
  explicit TensorType(DataType type);
  TensorType(const std::initializer_list<DataType>& types);

 private:
  std::shared_ptr<TensorTypeImpl> impl_;
};

// Names of types, the widest of which an attribute takes.
class GRAPH_VISIBLE Promote {
 public:
  explicit Promote(const std::initializer_list<const char*>& names);
  Promote(const Promote&) = delete;
  Promote& operator=(const Promote&) = delete;

 private:
  std::shared_ptr<std::vector<std::string>> names_;
};

}  // namespace ge

#endif
