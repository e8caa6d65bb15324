// SPDX-License-Identifier: Apache-2.0
// Names of service/model/load.h for the entry points of operators.
#pragma once

#include "service/model/load.h"

namespace anynpu::acl {

using service::check_model_memory;

}  // namespace anynpu::acl
