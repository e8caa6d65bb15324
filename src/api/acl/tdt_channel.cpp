// SPDX-License-Identifier: Apache-2.0
// Channels of tensors (acl_tdt.h).
#include "acl/acl_tdt.h"
#include "api/acl/entry.h"
#include "service/channel/channels.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::enter_value;
using acl::to_handle;

extern "C" {

acltdtChannelHandle* acltdtCreateChannel(uint32_t deviceId, const char* name) {
  using Channel = acltdtChannelHandle*;
  return enter_value(__func__, Channel{}, []() -> Result<Channel> {
    return fail(Code::unsupported_feature,
                "channels without a capacity lead into graphs of a training card; create one with "
                "acltdtCreateChannelWithCapacity");
  });
}

acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t deviceId, const char* name,
                                                     size_t capacity) {
  using Channel = acltdtChannelHandle*;
  return enter_value(__func__, Channel{}, [&]() -> Result<Channel> {
    ANYNPU_ASSIGN(const Handle channel, service::create_channel(deviceId, name, capacity));
    return acl::from_handle<Channel>(channel);
  });
}

aclError acltdtStopChannel(acltdtChannelHandle* handle) {
  return enter(__func__, [&] { return service::stop_channel(to_handle(handle)); });
}

aclError acltdtDestroyChannel(acltdtChannelHandle* handle) {
  return enter(__func__, [&] { return service::destroy_channel(to_handle(handle)); });
}

aclError acltdtCleanChannel(acltdtChannelHandle* handle) {
  return enter(__func__, [&] { return service::clean_channel(to_handle(handle)); });
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle* handle, size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(size, "size"));
    ANYNPU_ASSIGN(*size, service::sets_in_channel(to_handle(handle)));
    return {};
  });
}

aclError acltdtSendTensor(const acltdtChannelHandle* handle, const acltdtDataset* dataset,
                          int32_t timeout) {
  return enter(__func__,
               [&] { return service::send_set(to_handle(handle), to_handle(dataset), timeout); });
}

aclError acltdtReceiveTensor(const acltdtChannelHandle* handle, acltdtDataset* dataset,
                             int32_t timeout) {
  return enter(__func__, [&] {
    return service::receive_set(to_handle(handle), to_handle(dataset), timeout);
  });
}

}  // extern "C"
