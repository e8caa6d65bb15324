// SPDX-License-Identifier: Apache-2.0
#include "api/acl/lifecycle.h"

namespace anynpu::acl::detail {

std::atomic<Life> current_life{Life::fresh};

}  // namespace anynpu::acl::detail
