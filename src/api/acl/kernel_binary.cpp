// SPDX-License-Identifier: Apache-2.0
// Kernels of the program: objects of the device toolchain, loaded from memory or files, and the
// functions in them.
#include <cstring>

#include "acl/rt/kernel.h"
#include "api/acl/entry.h"
#include "base/mapped_file.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "service/kernel/kernel_objects.h"

namespace anynpu::acl {

namespace {

using service::KernelBinary;
using service::KernelFunction;
using service::LoadedBinary;

constexpr size_t kMostObjectBytes = size_t{1} << 30;
constexpr size_t kMostOptions = 16;

Result<std::span<const std::byte>> object_at(const void* data, size_t bytes, const char* name) {
  if (bytes == 0 || bytes > kMostObjectBytes) {
    return fail(Code::invalid_argument, "the object at {} has {} bytes; expected 1 to {}", name,
                bytes, kMostObjectBytes);
  }
  ANYNPU_ASSIGN(auto range, device::check_host_range(data, bytes, device::Access::read, name));
  return std::as_bytes(std::span(range.address, bytes));
}

Status check_load_option(const aclrtBinaryLoadOption& option) {
  switch (static_cast<int>(option.type)) {
    case ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD:  // an object is linked at once; that is no difference
      if (option.value.isLazyLoad <= 1) return {};
      return fail(Code::invalid_argument, "isLazyLoad is {}; expected 0 or 1",
                  option.value.isLazyLoad);
    case ACL_RT_BINARY_LOAD_OPT_MAGIC: {
      const auto magic = option.value.magic;
      if (magic == ACL_RT_BINARY_MAGIC_ELF_AICORE || magic == ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE ||
          magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE) {
        return {};
      }
      return fail(Code::invalid_argument, "magic is {}; expected an ACL_RT_BINARY_MAGIC_ELF_*",
                  magic);
    }
    case ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE:
      return fail(Code::unsupported_feature,
                  "kernels of the AI CPU are programs for its own system; compile the kernel with "
                  "stc-clang++ and load it without this option");
    default:
      return fail(Code::invalid_argument, "an option is of type {}; expected 1 to 3",
                  static_cast<int>(option.type));
  }
}

Status check_options(const aclrtBinaryLoadOptions* options) {
  if (!options) return {};
  ANYNPU_TRY(
      device::check_host_range(options, sizeof *options, device::Access::read, "options").status());
  if (options->numOpt > kMostOptions) {
    return fail(Code::invalid_argument, "numOpt is {}; expected at most {}", options->numOpt,
                kMostOptions);
  }
  if (options->numOpt == 0) return {};
  ANYNPU_TRY(device::check_host_range(options->options,
                                      options->numOpt * sizeof(aclrtBinaryLoadOption),
                                      device::Access::read, "options")
                 .status());
  for (size_t i = 0; i < options->numOpt; ++i) {
    ANYNPU_TRY(check_load_option(options->options[i]), "option {}", i);
  }
  return {};
}

Status load_object(std::span<const std::byte> object, aclrtBinHandle* out) {
  ANYNPU_TRY(check_pointer(out, "binHandle"));
  ANYNPU_TRY(device::Runtime::instance().current().status());
  auto loaded = std::make_shared<LoadedBinary>();
  ANYNPU_ASSIGN(loaded->module, exec::DeviceKernel::load(object));
  ANYNPU_ASSIGN(*out, insert_object<aclrtBinHandle>(std::move(loaded)));
  return {};
}

Status copy_name(const std::string& text, uint32_t room, char* out) {
  if (room <= text.size()) {
    return fail(Code::invalid_argument, "maxLen is {}; the name '{}' needs {}", room, text,
                text.size() + 1);
  }
  ANYNPU_TRY(
      device::check_host_range(out, text.size() + 1, device::Access::write, "name").status());
  std::memcpy(out, text.c_str(), text.size() + 1);
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen) {
  return enter_value(__func__, static_cast<aclrtBinary>(nullptr), [&]() -> Result<aclrtBinary> {
    ANYNPU_ASSIGN(const auto object, object_at(data, dataLen, "data"));
    auto binary = std::make_shared<KernelBinary>();
    binary->object.assign(object.begin(), object.end());
    return insert_object<aclrtBinary>(std::move(binary));
  });
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
  return enter<When::before_init>(__func__,
                                  [&]() -> Status { return remove_object<KernelBinary>(binary); });
}

aclError aclrtBinaryLoad(aclrtBinary binary, aclrtBinHandle* binHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<KernelBinary>(to_handle(binary)));
    return load_object(pin->object, binHandle);
  });
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                 const aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_options(options));
    ANYNPU_ASSIGN(const auto object, object_at(data, length, "data"));
    return load_object(object, binHandle);
  });
}

aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options,
                                 aclrtBinHandle* binHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(binPath, "binPath"));
    ANYNPU_TRY(check_options(options));
    ANYNPU_ASSIGN(auto file, MappedFile::open(binPath));
    ANYNPU_TRY(load_object(file->bytes(), binHandle), "object '{}'", binPath);
    return {};
  });
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
  return enter(__func__, [&]() -> Status { return remove_object<LoadedBinary>(binHandle); });
}

aclError aclrtBinaryGetFunction(aclrtBinHandle binHandle, const char* kernelName,
                                aclrtFuncHandle* funcHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(funcHandle, "funcHandle"));
    ANYNPU_TRY(check_pointer(kernelName, "kernelName"));
    ANYNPU_ASSIGN(const Handle found, service::find_function(to_handle(binHandle), kernelName));
    *funcHandle = from_handle<aclrtFuncHandle>(found);
    return {};
  });
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(aicAddr, "aicAddr"));
    ANYNPU_TRY(check_pointer(aivAddr, "aivAddr"));
    ANYNPU_ASSIGN(auto pin, resolve<KernelFunction>(to_handle(funcHandle)));
    // The cores have both units, so both addresses are the same one.
    *aicAddr = *aivAddr = reinterpret_cast<void*>(uintptr_t{pin->kernel->address()});
    return {};
  });
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<KernelFunction>(to_handle(funcHandle)));
    return copy_name(pin->kernel->name(), maxLen, name);
  });
}

}  // extern "C"
