// SPDX-License-Identifier: Apache-2.0
// aclDataBuffer: an address and a size of the program's own memory. Destroying one is allowed after
// aclFinalize too, because programs do so in destructors.
#include "service/model/data_buffer.h"

#include "acl/acl_base.h"
#include "api/acl/entry.h"

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return enter_value(__func__, static_cast<aclDataBuffer*>(nullptr),
                     [&]() -> Result<aclDataBuffer*> {
                       ANYNPU_ASSIGN(auto buffer, service::make_data_buffer(data, size));
                       return insert_object<aclDataBuffer*>(std::move(buffer));
                     });
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return enter<When::before_init>(
      __func__, [&]() -> Status { return remove_object<DataBuffer>(dataBuffer); });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return enter(__func__,
               [&] { return service::update_data_buffer(to_handle(dataBuffer), data, size); });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return enter_value(__func__, static_cast<void*>(nullptr), [&]() -> Result<void*> {
    ANYNPU_ASSIGN(const DataBuffer buffer, service::read_data_buffer(to_handle(dataBuffer)));
    return buffer.data;
  });
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return enter_value(__func__, uint32_t{0}, [&]() -> Result<uint32_t> {
    ANYNPU_ASSIGN(const DataBuffer buffer, service::read_data_buffer(to_handle(dataBuffer)));
    return static_cast<uint32_t>(buffer.size);  // documented: truncated
  });
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return enter_value(__func__, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(const DataBuffer buffer, service::read_data_buffer(to_handle(dataBuffer)));
    return buffer.size;
  });
}

}  // extern "C"
