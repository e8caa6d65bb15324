// SPDX-License-Identifier: Apache-2.0
// Init and exit of the V2 units: programs call them before the first channel and after the
// last.
#pragma once

#include "base/status.h"

namespace anynpu::media {

// In the thread's current context. Starting again is harmless; finalising the library stops it.
Status start_media_system();
// Ends every channel that is still open.
void stop_media_system();
// Fails with not_initialized.
Status check_media_system();

}  // namespace anynpu::media
