// SPDX-License-Identifier: Apache-2.0
// A model instance as text: in the log, or as a Chrome trace file with one row per
// stream. Thread-safe.
#pragma once

#include "service/instance/instance.h"

namespace anynpu::service {

// Both for an instance that is complete.
Status log_instance(Handle instance);
// `arguments`: with the arguments of kernels.
Status print_instance(Handle instance, const char* path, bool arguments);

}  // namespace anynpu::service
