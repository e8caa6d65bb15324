// SPDX-License-Identifier: Apache-2.0
// The units whose channels are known by number, as a whole: programs start them before the first
// channel and end them after the last.
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
