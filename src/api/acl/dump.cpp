// SPDX-License-Identifier: Apache-2.0
// The dump that a program sets while it runs (guide 7.12).
#include "acl/acl_dump.h"
#include "api/acl/entry.h"
#include "service/dump/dump_control.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::DumpControl;

extern "C" {

aclError aclmdlInitDump(void) {
  return enter(__func__, [] { return DumpControl::instance().start(); });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
  return enter(__func__, [&] { return DumpControl::instance().set_file(dumpCfgPath); });
}

aclError aclmdlFinalizeDump(void) {
  return enter(__func__, [] { return DumpControl::instance().finish(); });
}

}  // extern "C"
