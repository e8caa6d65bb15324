// SPDX-License-Identifier: Apache-2.0
// aclDataBuffer: an address and a size of the program's own memory. Destroying one is allowed after
// aclFinalize too, because programs do so in destructors.
#include "tensor/data_buffer.h"

#include <cstdint>

#include "acl/acl_base.h"
#include "api/acl/entry.h"

namespace anynpu::acl {

namespace {

Status check_size(size_t size) {
  if (size <= SIZE_MAX / 4) return {};
  return fail(Code::invalid_argument, "size is {}; expected at most {} (is it a negative number?)",
              size, SIZE_MAX / 4);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return enter_value(__func__, static_cast<aclDataBuffer*>(nullptr),
                     [&]() -> Result<aclDataBuffer*> {
                       ANYNPU_TRY(check_size(size));
                       auto buffer = std::make_shared<DataBuffer>(DataBuffer{data, size});
                       return insert_object<aclDataBuffer*>(std::move(buffer));
                     });
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return enter<When::before_init>(
      __func__, [&]() -> Status { return remove_object<DataBuffer>(dataBuffer); });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_size(size));
    ANYNPU_ASSIGN(auto buffer, resolve<DataBuffer>(to_handle(dataBuffer)));
    *buffer = {data, size};
    return {};
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return enter_value(__func__, static_cast<void*>(nullptr), [&]() -> Result<void*> {
    ANYNPU_ASSIGN(auto buffer, resolve<DataBuffer>(to_handle(dataBuffer)));
    return buffer->data;
  });
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return enter_value(__func__, uint32_t{0}, [&]() -> Result<uint32_t> {
    ANYNPU_ASSIGN(auto buffer, resolve<DataBuffer>(to_handle(dataBuffer)));
    return static_cast<uint32_t>(buffer->size);  // documented: truncated
  });
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return enter_value(__func__, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(auto buffer, resolve<DataBuffer>(to_handle(dataBuffer)));
    return buffer->size;
  });
}

}  // extern "C"
