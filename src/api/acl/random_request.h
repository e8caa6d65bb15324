// SPDX-License-Identifier: Apache-2.0
// From aclrtRandomNumTaskInfo to the request of the service.
#pragma once

#include <cstddef>
#include <span>

#include "acl/rt/device_query.h"
#include "service/random/random_numbers.h"

namespace anynpu::acl {

service::RandomRequest read_random(const aclrtRandomNumTaskInfo& info);
// The same from bytes laid out so, as many as the struct has.
service::RandomRequest read_random_bytes(std::span<const std::byte> bytes);

}  // namespace anynpu::acl
