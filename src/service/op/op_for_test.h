// SPDX-License-Identifier: Apache-2.0
// Arguments and buffers of single operators as programs pass them, for tests of operator services.
#pragma once

#include <vector>

#include "service/model/model_for_test.h"
#include "service/op/op_call.h"

namespace anynpu::service {

inline TensorDesc floats(Shape shape) {
  TensorDesc desc;
  desc.dtype = DType::f32;
  desc.format = Format::nd;
  desc.shape = std::move(shape);
  return desc;
}

// Objects by handle, and the array of handles that a call takes.
template <typename T>
class HandleArray {
 public:
  void add(T object) {
    objects_.push_back(std::make_unique<HandleForTest<T>>(std::make_shared<T>(std::move(object))));
    handles_.push_back(reinterpret_cast<const void*>(static_cast<Handle>(*objects_.back())));
  }
  const void* const* data() const { return handles_.data(); }
  int size() const { return static_cast<int>(handles_.size()); }
  T& operator[](size_t index) { return *objects_[index]->operator->(); }

 private:
  std::vector<std::unique_ptr<HandleForTest<T>>> objects_;
  std::vector<const void*> handles_;
};

// One call of an operator: descriptions, buffers and attributes.
struct OpForTest {
  explicit OpForTest(const char* op_type) : type(op_type) {}

  OpForTest& in(TensorDesc desc, void* data = nullptr, size_t bytes = 0) {
    input_descs.add(std::move(desc));
    input_buffers.add({data, bytes});
    return *this;
  }
  OpForTest& out(TensorDesc desc, void* data = nullptr, size_t bytes = 0) {
    output_descs.add(std::move(desc));
    output_buffers.add({data, bytes});
    return *this;
  }
  OpArguments arguments() const {
    return {type,
            input_descs.size(),
            input_descs.data(),
            output_descs.size(),
            output_descs.data(),
            reinterpret_cast<const void*>(static_cast<Handle>(attr))};
  }
  OpBuffers buffers() const {
    return {input_buffers.size(), input_buffers.data(), output_buffers.size(),
            output_buffers.data()};
  }

  const char* type;
  HandleArray<TensorDesc> input_descs, output_descs;
  HandleArray<DataBuffer> input_buffers, output_buffers;
  HandleForTest<OpAttr> attr{std::make_shared<OpAttr>()};
};

}  // namespace anynpu::service
