// SPDX-License-Identifier: Apache-2.0
// Modules and kernels.
#include "api/hpe/entry.h"
#include "npc/host/host.h"
#include "npc/host/objects.h"
#include "npc/host/registered_image.h"

using namespace anynpu;
using hpe::enter;
using hpe::to_handle;

static_assert(stcKernelFlagNone == 0 && stcKernelFlagIODataBypassDache == 3);
static_assert(stcParamPointer == static_cast<int>(npc::Given::pointer));

namespace {

npc::KernelCall call_of(const stcModule_t* module, const char* name,
                        const stcKernelParams_t& params, const unsigned char* kinds) {
  return {module ? to_handle(*module) : 0, name, params.values, params.count, kinds};
}

}  // namespace

stcError_t stcModuleLoadData(stcModule_t* module, const void* image, size_t size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(hpe::check_pointer(module, "module"));
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    if (!image) size = 0;
    ANYNPU_ASSIGN(auto loaded,
                  npc::HostModule::load(*device, {static_cast<const std::byte*>(image), size}));
    return hpe::insert_object(module, std::move(loaded));
  });
}

stcError_t stcModuleUnload(stcModule_t module) {
  return enter(__func__, [&] { return npc::unload_module(to_handle(module)); });
}

stcError_t stcRegisterFatBinary(const void* image) {
  return enter(__func__, [&] { return npc::register_image(image); });
}

stcError_t stcUnregisterFatBinary(void) {
  return enter(__func__, [&] { return npc::unregister_image(); });
}

stcError_t stcConfigureCall(int coreNum, stcStream_t stream, unsigned flags) {
  return enter(__func__, [&] { return npc::configure_call({coreNum, to_handle(stream), flags}); });
}

stcError_t stcLaunchKernel(stcModule_t* module, const char* name, stcKernelParams_t params) {
  return enter(__func__,
               [&] { return npc::launch_configured(call_of(module, name, params, nullptr)); });
}

stcError_t stcLaunchKernelTyped(stcModule_t* module, const char* name, stcKernelParams_t params,
                                const unsigned char* kinds) {
  return enter(__func__,
               [&] { return npc::launch_configured(call_of(module, name, params, kinds)); });
}
