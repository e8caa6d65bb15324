// SPDX-License-Identifier: Apache-2.0
// Short names for the library state (service/lifecycle.h), for entry points.
#pragma once

#include "service/finalize.h"
#include "service/lifecycle.h"

namespace anynpu::acl {

using service::initialised;
using service::life;
using service::Life;
using service::on_finalize;
using service::run_finalizers;

namespace detail {
using service::explain_uninitialised;
using service::detail::current_life;
}  // namespace detail

}  // namespace anynpu::acl
