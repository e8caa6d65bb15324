// SPDX-License-Identifier: Apache-2.0
// Functions of the program between tasks of a stream, and callbacks about streams.
#include "acl/rt/state_callback.h"
#include "api/acl/entry.h"
#include "service/callback/host_functions.h"
#include "service/callback/stream_states.h"

using namespace anynpu;
using acl::enter;
using acl::from_handle;
using acl::to_handle;

namespace {

void call_state_callback(Handle stream, uint32_t state, void* function, void* data) {
  reinterpret_cast<aclrtStreamStateCallback>(function)(from_handle<aclrtStream>(stream),
                                                       static_cast<aclrtStreamState>(state), data);
}

}  // namespace

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return enter(__func__,
               [&] { return service::launch_host_function(to_handle(stream), fn, args); });
}

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
  return enter(__func__, [&] {
    return service::subscribe_host_functions(hostFuncThreadId, to_handle(exeStream));
  });
}

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
  return enter(__func__, [&] {
    return service::unsubscribe_host_functions(hostFuncThreadId, to_handle(exeStream));
  });
}

aclError aclrtProcessHostFunc(int32_t timeout) {
  return enter(__func__, [&] { return service::process_host_functions(timeout); });
}

aclError aclrtRegStreamStateCallback(const char* regName, aclrtStreamStateCallback callback,
                                     void* args) {
  return enter<acl::When::before_init>(__func__, [&] {
    return service::set_stream_state_callback(regName, reinterpret_cast<void*>(callback), args,
                                              call_state_callback);
  });
}
