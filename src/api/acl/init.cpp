// SPDX-License-Identifier: Apache-2.0
// aclInit, aclFinalize, aclFinalizeReference (guide 4.3).
#include "acl/acl.h"
#include "api/acl/entry.h"
#include "service/library_life.h"

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclInit(const char* configPath) {
  return enter<When::before_init>(__func__, [&] { return service::start_library(configPath); });
}

aclError aclFinalize(void) {
  return enter<When::before_init>(__func__, [] { return service::end_library(); });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(refCount, "refCount"));
    return service::drop_library_start(refCount);
  });
}

}  // extern "C"
