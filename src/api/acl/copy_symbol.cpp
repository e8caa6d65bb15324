// SPDX-License-Identifier: Apache-2.0
// Variables of the device as host code of a mixed build names them (acl/rt/memory_copy.h). Their
// registration is made by the vendor's compiler, whose device code does not run here: no symbol is
// ever known. Variables of an object are found with aclrtBinaryGetGlobal.
#include "acl/rt/memory_copy.h"
#include "api/acl/entry.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;

namespace {

Status find_symbol(const void* symbol) {
  ANYNPU_TRY(check_pointer(symbol, "symbol"));
  return fail(Code::invalid_symbol,
              "{} is no variable of the device that was registered; load the object with "
              "aclrtBinaryLoadFromFile and find the variable with aclrtBinaryGetGlobal",
              symbol);
}

Status copy_symbol(const void* symbol, const void* other, aclrtMemcpyKind kind,
                   aclrtMemcpyKind wanted) {
  ANYNPU_TRY(check_pointer(symbol, "symbol"));
  ANYNPU_TRY(check_pointer(other, "src or dst"));
  if (kind != wanted && kind != ACL_MEMCPY_DEFAULT) {
    return fail(Code::invalid_argument, "kind is {}; expected {} or 4 (default)", kind, wanted);
  }
  return find_symbol(symbol);
}

}  // namespace

extern "C" {

aclError aclrtGetSymbolAddress(const void* symbol, void** devPtr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(devPtr, "devPtr"));
    return find_symbol(symbol);
  });
}

aclError aclrtGetSymbolSize(const void* symbol, size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(size, "size"));
    return find_symbol(symbol);
  });
}

aclError aclrtMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                             aclrtMemcpyKind kind) {
  return enter(__func__, [&] { return copy_symbol(symbol, src, kind, ACL_MEMCPY_HOST_TO_DEVICE); });
}

aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                  aclrtMemcpyKind kind, aclrtStream stream) {
  return enter(__func__, [&] { return copy_symbol(symbol, src, kind, ACL_MEMCPY_HOST_TO_DEVICE); });
}

aclError aclrtMemcpyFromSymbol(void* dst, size_t dstMax, const void* symbol, size_t count,
                               size_t offset, aclrtMemcpyKind kind) {
  return enter(__func__, [&] { return copy_symbol(symbol, dst, kind, ACL_MEMCPY_DEVICE_TO_HOST); });
}

aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t dstMax, const void* symbol, size_t count,
                                    size_t offset, aclrtMemcpyKind kind, aclrtStream stream) {
  return enter(__func__, [&] { return copy_symbol(symbol, dst, kind, ACL_MEMCPY_DEVICE_TO_HOST); });
}

}  // extern "C"
