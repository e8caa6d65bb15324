// SPDX-License-Identifier: Apache-2.0
// Failures inside a language binding (anynpu.h) leave their message like all others.
#include "anynpu.h"
#include "api/acl/errors.h"
#include "base/recent_failure.h"

extern "C" int anynpu_acl_fail(const char* function, int code, const char* message) {
  return anynpu::acl::report(function,
                             {code, anynpu::Status(anynpu::Code::invalid_argument, message)});
}

extern "C" const char* anynpu_acl_last_message() {
  return anynpu::last_message(anynpu::Interface::acl);
}

extern "C" void anynpu_acl_note_buffer(void*, const void*) {}
