// SPDX-License-Identifier: Apache-2.0
// Random numbers on a stream, and marks of a program in profiles.
#include <cstring>

#include "api/acl/entry.h"
#include "api/acl/random_request.h"
#include "device/memory.h"
#include "service/profile/user_trace.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::to_handle;

namespace anynpu::acl {

namespace {

service::RandomParameter read_parameter(const aclrtRandomParaInfo& from) {
  service::RandomParameter to;
  to.in_memory = from.isAddr != 0;
  to.bytes = from.size;
  static_assert(sizeof from.valueOrAddr == 8);
  std::memcpy(to.value.data(), from.valueOrAddr, to.value.size());
  return to;
}

}  // namespace

service::RandomRequest read_random(const aclrtRandomNumTaskInfo& info) {
  service::RandomRequest request;
  request.type = static_cast<DType>(info.dataType);
  request.kind = static_cast<service::RandomRequest::Kind>(info.randomNumFuncParaInfo.funcType);
  const auto& parameters = info.randomNumFuncParaInfo.paramInfo;  // all kinds lie at one place
  request.first = read_parameter(parameters.uniformDisInfo.min);
  if (request.kind != service::RandomRequest::Kind::keep_bits) {
    request.second = read_parameter(parameters.uniformDisInfo.max);
  }
  request.result = info.randomResultAddr;
  request.counter = info.randomCounterAddr;
  request.seed = read_parameter(info.randomSeed);
  request.count = read_parameter(info.randomNum);
  return request;
}

service::RandomRequest read_random_bytes(std::span<const std::byte> bytes) {
  aclrtRandomNumTaskInfo info;
  std::memcpy(&info, bytes.data(), sizeof info);
  return read_random(info);
}

}  // namespace anynpu::acl

aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo* taskInfo, const aclrtStream stream,
                             void* reserve) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(taskInfo, "taskInfo"));
    if (reserve) return fail(Code::invalid_argument, "reserve is {}; expected null", reserve);
    return service::submit_random_numbers(acl::read_random(*taskInfo), to_handle(stream));
  });
}

aclError aclrtProfTrace(void* userdata, int32_t length, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(userdata, "userdata"));
    ANYNPU_TRY(service::check_user_trace(length));
    return service::submit_user_trace(
        {static_cast<const std::byte*>(userdata), static_cast<size_t>(length)}, to_handle(stream));
  });
}
