// SPDX-License-Identifier: Apache-2.0
// Modules and kernels.
#include "api/hpe/entry.h"
#include "api/hpe/stream.h"
#include "npc/host/host.h"
#include "npc/host/launch.h"
#include "npc/host/registered_image.h"

using namespace anynpu;
using hpe::enter;
using hpe::Failure;

namespace {

// What stcConfigureCall set for the thread's next launch.
struct CallConfiguration {
  int core_num = npc::kCores;
  stcStream_t stream = nullptr;
  uint32_t flags = stcKernelFlagNone;
};
thread_local CallConfiguration next_call;

Status check_configuration(const CallConfiguration& call) {
  if (call.core_num < 1 || call.core_num > npc::kCores) {
    return fail(Code::invalid_config, "core_num is {}; a cluster runs a kernel on 1 to {} NPCs",
                call.core_num, npc::kCores);
  }
  if (call.flags > stcKernelFlagIODataBypassDache) {
    return fail(Code::invalid_argument, "the kernel flags are {}; expected 0 to 3", call.flags);
  }
  return {};
}

Failure find_module(const stcModule_t* module, std::shared_ptr<npc::HostModule>* found) {
  if (!module || !*module) {
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    auto registered = npc::registered_module(*device);
    if (registered.ok()) {
      *found = std::move(*registered);
      return {};
    }
    if (registered.status().code() != Code::bad_call_order) return registered.status();
    return {stcErrorNoModule, registered.status()};
  }
  auto pin = resolve<npc::HostModule>(hpe::to_handle(*module));
  if (!pin.ok()) return {stcErrorInvalidModule, pin.status()};
  *found = pin->share();
  return {};
}

Result<std::vector<npc::Given>> read_kinds(const unsigned char* kinds, size_t count) {
  std::vector<npc::Given> given;
  for (size_t i = 0; kinds && i < count; ++i) {
    if (kinds[i] > stcParamPointer) {
      return fail(Code::invalid_argument, "kind {} of parameter {}; expected an stcParamKind",
                  kinds[i], i);
    }
    given.push_back(static_cast<npc::Given>(kinds[i]));
  }
  return given;
}

Failure launch(stcModule_t* module, const char* name, stcKernelParams_t params,
               const unsigned char* kinds) {
  const CallConfiguration call = std::exchange(next_call, {});
  ANYNPU_TRY(check_configuration(call));
  ANYNPU_TRY(hpe::check_pointer(name, "name"));
  if (params.count > npc::Cluster::kMaxArgs || (params.count > 0 && !params.values)) {
    return fail(Code::invalid_argument, "{} parameters at {}; expected at most {}", params.count,
                static_cast<const void*>(params.values), npc::Cluster::kMaxArgs);
  }
  std::shared_ptr<npc::HostModule> found;
  if (Failure failure = find_module(module, &found); !failure.ok()) return failure;
  std::shared_ptr<npc::Lane> lane;
  if (Failure failure = hpe::find_lane(call.stream, found->host(), &lane); !failure.ok()) {
    return failure;
  }
  npc::LaunchRequest request;
  request.kernel = name;
  request.args.assign(params.values, params.values + params.count);
  ANYNPU_ASSIGN(request.given, read_kinds(kinds, params.count));
  request.core_num = call.core_num;
  request.flags = call.flags;
  return npc::launch(found, std::move(request), lane);
}

}  // namespace

stcError_t stcModuleLoadData(stcModule_t* module, const void* image, size_t size) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(hpe::check_pointer(module, "module"));
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    if (!image) size = 0;
    ANYNPU_ASSIGN(auto loaded,
                  npc::HostModule::load(*device, {static_cast<const std::byte*>(image), size}));
    return hpe::insert_object(module, std::move(loaded));
  });
}

stcError_t stcModuleUnload(stcModule_t module) {
  return enter(__func__, [&]() -> Failure {
    auto& handles = HandleTable::instance();
    {
      auto pin = handles.find<npc::HostModule>(hpe::to_handle(module));
      if (pin && pin->launches() > 0) {
        return {stcErrorNpuTaskRunning,
                fail(Code::not_complete,
                     "{} launches of the module are queued or running; synchronize first",
                     pin->launches())};
      }
    }
    if (handles.remove<npc::HostModule>(hpe::to_handle(module))) return {};
    return {stcErrorInvalidModule, handles.explain(hpe::to_handle(module), HandleTag::npc_module)};
  });
}

stcError_t stcRegisterFatBinary(const void* image) {
  return enter(__func__, [&] { return npc::register_image(image); });
}

stcError_t stcUnregisterFatBinary(void) {
  return enter(__func__, [&]() -> Failure {
    Status status = npc::unregister_image();
    if (status.ok()) return {};
    return {stcErrorNoImage, std::move(status)};
  });
}

stcError_t stcConfigureCall(int coreNum, stcStream_t stream, unsigned flags) {
  return enter(__func__, [&] {
    next_call = {coreNum, stream, flags};
    return check_configuration(next_call);
  });
}

stcError_t stcLaunchKernel(stcModule_t* module, const char* name, stcKernelParams_t params) {
  return enter(__func__, [&] { return launch(module, name, params, nullptr); });
}

stcError_t stcLaunchKernelTyped(stcModule_t* module, const char* name, stcKernelParams_t params,
                                const unsigned char* kinds) {
  return enter(__func__, [&] { return launch(module, name, params, kinds); });
}
