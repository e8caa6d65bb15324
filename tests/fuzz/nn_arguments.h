// SPDX-License-Identifier: Apache-2.0
// For fuzz_aclnn: bytes become the arguments of a call of an aclnn operator. Most tensors of a call
// have one shape and one type, or operators would refuse nearly all of them; the others have any
// rank, extents, strides, offset, storage, type, format or memory, and may be left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "../hostile/guarded_memory.h"
#include "nn_values.h"
#include "run_model.h"
#include "service/aclnn/call_arguments.h"
#include "service/aclnn/objects.h"

namespace anynpu::fuzz {

// The arguments of one call with all that they point to.
class NnArguments {
 public:
  explicit NnArguments(Reader& reader) : reader_(reader) {
    shape_ = shape_of(reader);
    dtype_ = reader.one_of(kTypes);
  }
  ~NnArguments() {
    using namespace service;
    for (const auto& [destroy, handle] : objects_) (void)destroy(handle);
  }
  NnArguments(const NnArguments&) = delete;
  NnArguments& operator=(const NnArguments&) = delete;

  // By the letter of its kind in the generated list of calls (tools/gen_aclnn).
  service::RawArgument make(char kind) {
    using aclnn::ArgumentKind;
    switch (kind) {
      case 't':
        return {ArgumentKind::tensor, tensor()};
      case 'T':
        return {ArgumentKind::tensors, tensors()};
      case 's':
        return {ArgumentKind::scalar, scalar()};
      case 'S':
        return {ArgumentKind::scalars, scalars()};
      case 'I':
        return {ArgumentKind::ints, ints()};
      case 'F':
        return {ArgumentKind::floats, floats()};
      case 'B':
        return {ArgumentKind::bools, bools()};
      case 'c':
        return service::RawArgument(reader_.one_of(kTexts));
      case 'r':
        return service::RawArgument(reader_.one_of(kReals));
      default:
        return service::RawArgument(integer_of(reader_));
    }
  }

  std::byte* memory(size_t bytes) {
    const auto& block = blocks_.emplace_back(bytes);
    if (!block.data()) std::abort();
    return block.data();
  }
  bool ends_are_intact() const {
    return std::all_of(blocks_.begin(), blocks_.end(),
                       [](const auto& block) { return block.end_is_intact(); });
  }

 private:
  template <typename T>
  Handle keep(Result<Handle> made) {
    if (!made.ok()) {
      if (made.status().message().empty()) std::abort();
      return 0;
    }
    objects_.emplace_back(&service::destroy_nn_object<T>, *made);
    return *made;
  }

  // That of the call, or one like it.
  Extents near_shape() {
    Extents shape = shape_;
    const size_t axis = shape.empty() ? 0 : reader_.byte() % shape.size();
    switch (reader_.byte() % 12) {
      case 6:
        if (!shape.empty()) shape[axis] = 1;
        return shape;
      case 7:
        if (!shape.empty()) shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
        return shape;
      case 8:
        shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), reader_.one_of(kExtents));
        break;
      case 9:
        return shape_of(reader_);
      case 10:
        return {reader_.one_of(kExtents)};
      case 11:
        if (!shape.empty()) shape[axis] = int64_t{1} << reader_.byte() % 64;  // no memory has it
        return shape;
      default:
        return shape;
    }
    return count_of(shape) > kMostElements ? shape_ : shape;
  }

  Extents strides_for(const Extents& shape) {
    Extents strides(shape.size());
    int64_t step = 1;
    const bool gaps = reader_.one_in(2), turned = reader_.one_in(2);
    for (size_t i = 0; i < shape.size(); ++i) {
      const size_t axis = turned ? i : shape.size() - 1 - i;
      strides[axis] = step;
      step *= std::clamp<int64_t>(shape[axis], 1, kMostElements) + (gaps ? 1 : 0);
      if (step > 4 * kMostElements) step = 1;
    }
    if (!strides.empty() && reader_.one_in(3))
      strides[reader_.byte() % strides.size()] = integer_of(reader_);
    return strides;
  }

  // Elements from the storage's begin to the view's end, as far as a test gives it memory.
  static int64_t reach_of(const Extents& shape, const Extents& strides, int64_t offset) {
    int64_t end = std::clamp<int64_t>(offset, 0, kMostElements) + 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] <= 1 || shape[i] > kMostElements || strides[i] <= 0) continue;
      if (strides[i] > 4 * kMostElements) continue;
      end += (shape[i] - 1) * strides[i];
      if (end > 8 * kMostElements) return 8 * kMostElements;
    }
    return count_of(shape) == 0 ? 0 : end;
  }

  Handle tensor() {
    const uint8_t form = reader_.byte();
    if (form % 16 == 15) return 0;
    const Extents shape = near_shape();
    service::ViewRequest request;
    request.dims = shape.data();
    request.dim_count = shape.size();
    request.dtype = static_cast<int32_t>(form % 4 == 3 ? reader_.one_of(kTypes) : dtype_);
    request.format = static_cast<int32_t>(form % 8 == 6 ? reader_.one_of(kFormats) : Format::nd);
    Extents strides = strides_for(shape);
    const bool strided = form / 16 % 4 == 3;
    if (!strided) {
      aclnn::TensorView view;
      if (shape.size() <= aclnn::Dims::kMost) view.set_contiguous(shape);
      strides.assign(view.strides.begin(), view.strides.end());
      strides.resize(shape.size());
    } else {
      request.strides = strides.data();
      request.offset = reader_.one_in(2) ? integer_of(reader_) : 0;
    }
    Extents storage{reach_of(shape, strides, request.offset)};
    const auto bytes = std::min<size_t>(
        bytes_of(static_cast<DType>(request.dtype), static_cast<size_t>(storage[0])), kMostBytes);
    request.data = place(form / 64, bytes);
    if (strided && reader_.one_in(4)) storage = {integer_of(reader_), 2};  // not what is there
    request.storage_dims = storage.data();
    request.storage_dim_count = strided && reader_.one_in(4) ? 0 : storage.size();
    return keep<service::NnTensor>(service::create_nn_tensor(request));
  }

  // New memory with values, or that of a tensor before, or none.
  void* place(int kind, size_t bytes) {
    if (kind == 3 && !blocks_.empty()) {
      const uint8_t which = reader_.byte();
      if (which == 255) return nullptr;
      const auto& block = blocks_[which % blocks_.size()];
      if (block.bytes() >= bytes) return block.data();
    }
    std::byte* data = memory(bytes);
    // Small whole numbers of any type on the way: indices, counts and sizes.
    const uint8_t step = reader_.byte();
    for (size_t i = 0; i < bytes; ++i)
      data[i] = std::byte{static_cast<uint8_t>(step < 128 ? (i % 8 == 0 ? i / 8 % (step + 1) : 0)
                                                          : i * step + step)};
    return data;
  }

  Handle tensors() {
    std::vector<const void*> items(reader_.byte() % 5);
    for (const void*& item : items) item = reinterpret_cast<const void*>(tensor());
    if (reader_.byte() == 255) return 0;
    return keep<service::NnTensors>(service::create_nn_tensors(items.data(), items.size()));
  }
  Handle scalar() {
    const uint8_t form = reader_.byte();
    if (form % 16 == 15) return 0;
    const DType dtype = form % 4 == 3 ? reader_.one_of(kTypes) : DType::f32;
    const aclnn::Scalar value = form % 2 == 0 ? aclnn::scalar_of(reader_.one_of(kReals))
                                              : aclnn::scalar_of(integer_of(reader_));
    const bool number = aclnn::make_scalar(value.bytes.data(), dtype).ok();
    const aclnn::Scalar given = number ? aclnn::converted(value, dtype) : value;
    return keep<service::NnScalar>(
        service::create_nn_scalar(given.bytes.data(), static_cast<int32_t>(dtype)));
  }
  Handle scalars() {
    std::vector<const void*> items(reader_.byte() % 5);
    for (const void*& item : items) item = reinterpret_cast<const void*>(scalar());
    if (reader_.byte() == 255) return 0;
    return keep<service::NnScalars>(service::create_nn_scalars(items.data(), items.size()));
  }
  // The extents of the call, or any numbers.
  Handle ints() {
    const uint8_t form = reader_.byte();
    if (form % 16 == 15) return 0;
    Extents values = shape_;
    if (form % 4 != 0) {
      values.resize(form / 16 % 8);
      for (int64_t& value : values) value = integer_of(reader_);
    }
    return keep<service::NnInts>(service::create_nn_ints(values.data(), values.size()));
  }
  Handle floats() {
    const uint8_t form = reader_.byte();
    if (form % 16 == 15) return 0;
    std::vector<float> values(form % 8);
    for (float& value : values) value = static_cast<float>(reader_.one_of(kReals));
    return keep<service::NnFloats>(service::create_nn_floats(values.data(), values.size()));
  }
  Handle bools() {
    const uint8_t form = reader_.byte();
    if (form % 16 == 15) return 0;
    bool values[8] = {};
    for (int i = 0; i < form % 8; ++i) values[i] = reader_.one_in(2);
    return keep<service::NnBools>(service::create_nn_bools(values, form % 8));
  }

  Reader& reader_;
  Extents shape_;
  DType dtype_;
  std::deque<hostile::GuardedMemory> blocks_;
  std::vector<std::pair<Status (*)(Handle), Handle>> objects_;
};

}  // namespace anynpu::fuzz
