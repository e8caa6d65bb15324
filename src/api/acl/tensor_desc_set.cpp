// SPDX-License-Identifier: Apache-2.0
// aclTensorDesc: the functions that change one. aclCreateTensorDesc and the origin functions set
// the shape that the getters read; the others set how the data is stored.
#include <cstring>

#include "acl/acl_base.h"
#include "api/acl/entry.h"
#include "api/acl/tensor_desc.h"
#include "base/memory_probe.h"
#include "tensor/tensor_desc.h"

namespace anynpu::acl {

namespace {

template <typename Change>
aclError change_desc(const char* function, aclTensorDesc* desc, Change&& change) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<TensorDesc>(to_handle(desc)));
    return change(*pin);
  });
}

aclError set_format(const char* function, aclTensorDesc* desc, aclFormat format,
                    Format TensorDesc::*member) {
  return change_desc(function, desc, [&](TensorDesc& d) -> Status {
    ANYNPU_TRY(check_format(format));
    d.*member = static_cast<Format>(format);
    return {};
  });
}

aclError set_shape(const char* function, aclTensorDesc* desc, int count, const int64_t* dims,
                   Shape TensorDesc::*member) {
  return change_desc(function, desc, [&](TensorDesc& d) -> Status {
    ANYNPU_ASSIGN(d.*member, read_shape(count, dims));
    return {};
  });
}

Result<std::vector<Range>> read_ranges(size_t count, const int64_t (*pairs)[2], const char* name) {
  if (count > kMaxDims) {
    return fail(Code::invalid_argument, "the number of ranges is {}; expected at most {}", count,
                kMaxDims);
  }
  if (count > 0) ANYNPU_TRY(check_pointer(pairs, name));
  std::vector<Range> ranges;
  for (size_t i = 0; i < count; ++i) ranges.emplace_back(pairs[i][0], pairs[i][1]);
  return ranges;
}

Status set_constant(TensorDesc& desc, const void* data, size_t length) {
  if (length > 0 && !probe_readable(data, length)) {
    return fail(Code::invalid_address,
                "{} bytes at {} cannot be read; expected host memory with the constant's value",
                length, data);
  }
  desc.constant.resize(length);
  if (length > 0) std::memcpy(desc.constant.data(), data, length);
  desc.is_constant = true;
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  (void)change_desc(__func__, desc, [&](TensorDesc& d) -> Status {
    ANYNPU_TRY(acl::check_optional(name, "name"));
    d.name = name ? name : "";
    return {};
  });
}

aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount,
                                int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM]) {
  return change_desc(__func__, desc, [&](TensorDesc& d) -> Status {
    ANYNPU_ASSIGN(auto ranges, read_ranges(dimsCount, dimsRange, "dimsRange"));
    ANYNPU_TRY(check_ranges(ranges));
    d.shape_ranges = std::move(ranges);
    return {};
  });
}

aclError aclSetTensorValueRange(aclTensorDesc* desc, size_t valueCount,
                                int64_t valueRange[][ACL_TENSOR_VALUE_RANGE_NUM]) {
  return change_desc(__func__, desc, [&](TensorDesc& d) -> Status {
    ANYNPU_ASSIGN(d.value_ranges, read_ranges(valueCount, valueRange, "valueRange"));
    return {};
  });
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  return set_format(__func__, desc, format, &TensorDesc::storage_format);
}

aclError aclSetTensorStorageFormat(aclTensorDesc* desc, aclFormat format) {
  return set_format(__func__, desc, format, &TensorDesc::storage_format);
}

aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format) {
  return set_format(__func__, desc, format, &TensorDesc::format);
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_shape(__func__, desc, numDims, dims, &TensorDesc::storage_shape);
}

aclError aclSetTensorStorageShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_shape(__func__, desc, numDims, dims, &TensorDesc::storage_shape);
}

aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_shape(__func__, desc, numDims, dims, &TensorDesc::shape);
}

aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName) {
  return change_desc(__func__, desc, [&](TensorDesc& d) -> Status {
    ANYNPU_TRY(check_pointer(dynamicInputName, "dynamicInputName"));
    d.dynamic_input = dynamicInputName;
    return {};
  });
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  return change_desc(__func__, desc,
                     [&](TensorDesc& d) -> Status { return set_constant(d, dataBuffer, length); });
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  return change_desc(__func__, desc, [&](TensorDesc& d) -> Status {
    if (memType < ACL_MEMTYPE_DEVICE || memType > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) {
      return fail(Code::invalid_argument,
                  "memType is {}; expected ACL_MEMTYPE_DEVICE (0), ACL_MEMTYPE_HOST (1) or "
                  "ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT (2)",
                  static_cast<int>(memType));
    }
    d.placement = static_cast<Placement>(memType);
    return {};
  });
}

}  // extern "C"
