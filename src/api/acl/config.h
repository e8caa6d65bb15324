// SPDX-License-Identifier: Apache-2.0
// Names of service/config/config.h for entry points.
#pragma once

#include "api/acl/errors.h"
#include "service/config/config.h"

namespace anynpu::acl {

using service::current_config;

}  // namespace anynpu::acl
