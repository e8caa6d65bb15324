// SPDX-License-Identifier: Apache-2.0
// The life of the library (service/lifecycle.h) under the names that entry points use.
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
