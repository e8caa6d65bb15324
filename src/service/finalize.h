// SPDX-License-Identifier: Apache-2.0
// Cleanup of services when the library is finalised. Thread-safe.
#pragma once

namespace anynpu::service {

// Registers a function that finalising calls, last registered first. Registering twice counts once.
// It must be safe to call again after a later initialisation.
void on_finalize(void (*release)());
void run_finalizers();

}  // namespace anynpu::service
