// SPDX-License-Identifier: Apache-2.0
// A model instance as text: into the log, or as a file that viewers of Chrome traces show, a row a
// stream. Thread-safe.
#pragma once

#include "service/instance/instance.h"

namespace anynpu::service {

// Both for an instance that is complete.
Status log_instance(Handle instance);
// `arguments`: with the arguments of kernels.
Status print_instance(Handle instance, const char* path, bool arguments);

}  // namespace anynpu::service
