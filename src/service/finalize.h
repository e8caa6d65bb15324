// SPDX-License-Identifier: Apache-2.0
// What services release when the library is finalised. Thread-safe.
#pragma once

namespace anynpu::service {

// Registers what finalising calls, last registered first. Registering twice counts once. The
// function must be safe to call again after a later initialisation.
void on_finalize(void (*release)());
void run_finalizers();

}  // namespace anynpu::service
