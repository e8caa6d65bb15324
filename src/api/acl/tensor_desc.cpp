// SPDX-License-Identifier: Apache-2.0
// aclTensorDesc: create, destroy and read. What changes one is in tensor_desc_set.cpp.
#include "tensor/tensor_desc.h"

#include <span>
#include <tuple>

#include "acl/acl_base.h"
#include "api/acl/entry.h"
#include "api/acl/tensor_desc.h"
#include "tensor/layout.h"

namespace anynpu::acl {

namespace {

// Reads a property of a live description; `failed` when it is none.
template <typename T, typename Read>
T read_desc(const char* function, const aclTensorDesc* desc, T failed, Read&& read) {
  return enter_value(function, failed, [&]() -> Result<T> {
    ANYNPU_ASSIGN(auto pin, resolve<TensorDesc>(to_handle(desc)));
    return read(*pin);
  });
}

Status check_index(const TensorDesc& desc, size_t index) {
  if (desc.unknown_rank()) {
    return fail(Code::invalid_argument,
                "the number of dimensions is unknown; set a shape before asking for dimension {}",
                index);
  }
  if (index < desc.shape.size()) return {};
  return fail(Code::invalid_argument, "index is {}; expected less than the {} dimensions of {}",
              index, desc.shape.size(), to_string(desc.shape));
}

Result<aclTensorDesc*> describe(aclDataType type, const Shape& shape, aclFormat format) {
  ANYNPU_TRY(check_dtype(type));
  ANYNPU_TRY(check_format(format));
  ANYNPU_TRY(check_desc_shape(shape));
  auto desc = std::make_shared<TensorDesc>();
  desc->dtype = static_cast<DType>(type);
  desc->format = static_cast<Format>(format);
  desc->shape = shape;
  return insert_object<aclTensorDesc*>(std::move(desc));
}

Result<aclTensorDesc*> element_of_list(aclTensorDesc* desc, size_t index) {
  ANYNPU_ASSIGN(auto pin, resolve<TensorDesc>(to_handle(desc)));
  const size_t count = pin->list.empty() ? 1 : pin->list.size();
  if (index >= count) {
    return fail(Code::invalid_argument, "index is {}; expected less than the {} descriptions",
                index, count);
  }
  if (pin->list.empty()) return desc;
  pin->list_handles.resize(count, 0);
  if (pin->list_handles[index] == 0) {
    pin->list_handles[index] = HandleTable::instance().insert(pin->list[index]);
  }
  return from_handle<aclTensorDesc*>(pin->list_handles[index]);
}

Status copy_range(const TensorDesc& desc, size_t index, std::span<int64_t> out) {
  if (out.size() < ACL_TENSOR_SHAPE_RANGE_NUM) {
    return fail(Code::invalid_argument, "dimRangeNum is {}; expected 2", out.size());
  }
  ANYNPU_TRY(check_index(desc, index));
  std::tie(out[0], out[1]) = desc.range_of(index);
  return {};
}

Status transform(const aclTensorDesc* source, aclFormat format, aclTensorDesc** out) {
  ANYNPU_TRY(check_pointer(out, "dstDesc"));
  ANYNPU_TRY(check_format(format));
  ANYNPU_ASSIGN(auto pin, resolve<TensorDesc>(to_handle(source)));
  auto shape = shape_in_format(pin->shape, pin->format, static_cast<Format>(format), pin->dtype);
  if (!shape.ok()) return shape.status().with_code(Code::format_mismatch);
  ANYNPU_ASSIGN(*out, describe(static_cast<aclDataType>(pin->dtype), shape.value(), format));
  return {};
}

}  // namespace

Result<Shape> read_shape(int count, const int64_t* dims) {
  if (count < 0 || static_cast<size_t>(count) > kMaxDims) {
    return fail(Code::invalid_argument, "the number of dimensions is {}; expected 0 to {}", count,
                kMaxDims);
  }
  if (count > 0) ANYNPU_TRY(check_pointer(dims, "dims"));
  Shape shape(dims, dims + count);
  ANYNPU_TRY(check_desc_shape(shape));
  return shape;
}

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
  return enter_value(__func__, static_cast<aclTensorDesc*>(nullptr),
                     [&]() -> Result<aclTensorDesc*> {
                       ANYNPU_ASSIGN(Shape shape, read_shape(numDims, dims));
                       return describe(dataType, shape, format);
                     });
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  (void)enter<When::before_init>(__func__,
                                 [&]() -> Status { return remove_object<TensorDesc>(desc); });
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return read_desc(__func__, desc, ACL_DT_UNDEFINED,
                   [](const TensorDesc& d) { return static_cast<aclDataType>(d.dtype); });
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return read_desc(__func__, desc, ACL_FORMAT_UNDEFINED,
                   [](const TensorDesc& d) { return static_cast<aclFormat>(d.format); });
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  return read_desc(__func__, desc, size_t{0}, [](const TensorDesc& d) { return d.byte_count(); });
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  return read_desc(__func__, desc, size_t{0},
                   [](const TensorDesc& d) { return d.element_count(); });
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return read_desc(__func__, desc, size_t{0}, [](const TensorDesc& d) {
    return d.unknown_rank() ? static_cast<size_t>(kUnknownRank) : d.shape.size();
  });
}

int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
  return read_desc(__func__, desc, int64_t{-1}, [&](const TensorDesc& d) -> Result<int64_t> {
    ANYNPU_TRY(check_index(d, index));
    return d.shape[index];
  });
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dimSize, "dimSize"));
    ANYNPU_ASSIGN(auto pin, resolve<TensorDesc>(to_handle(desc)));
    ANYNPU_TRY(check_index(*pin, index));
    *dimSize = pin->shape[index];
    return {};
  });
}

aclError aclGetTensorDescDimRange(const aclTensorDesc* desc, size_t index, size_t dimRangeNum,
                                  int64_t* dimRange) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dimRange, "dimRange"));
    ANYNPU_ASSIGN(auto pin, resolve<TensorDesc>(to_handle(desc)));
    return copy_range(*pin, index, {dimRange, dimRangeNum});
  });
}

const char* aclGetTensorDescName(aclTensorDesc* desc) {
  return read_desc(__func__, desc, "", [](const TensorDesc& d) { return d.name.c_str(); });
}

aclTensorDesc* aclGetTensorDescByIndex(aclTensorDesc* desc, size_t index) {
  return enter_value(__func__, static_cast<aclTensorDesc*>(nullptr),
                     [&]() -> Result<aclTensorDesc*> { return element_of_list(desc, index); });
}

void* aclGetTensorDescAddress(const aclTensorDesc* desc) {
  return read_desc(__func__, desc, static_cast<void*>(nullptr),
                   [](const TensorDesc& d) { return d.address; });
}

aclError aclTransTensorDescFormat(const aclTensorDesc* srcDesc, aclFormat dstFormat,
                                  aclTensorDesc** dstDesc) {
  return enter(__func__, [&]() -> Status { return transform(srcDesc, dstFormat, dstDesc); });
}

}  // extern "C"
