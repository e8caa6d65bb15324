// SPDX-License-Identifier: Apache-2.0
// Maps Status to HcclResult. The message is kept for aclGetRecentErrMsg.
#pragma once

#include <string_view>

#include "api/failure.h"
#include "base/status.h"
#include "hccl/hccl_types.h"

namespace anynpu::hccl {

using Failure = api::Failure<HcclResult>;

HcclResult to_hccl_result(Code code);
HcclResult number_of(const char* function, const Failure& failure);
// Stores and logs the message. Never called with ok.
HcclResult report(const char* function, const Failure& failure);
// "HCCL_E_PARA"; "unknown result" for others.
const char* result_name(HcclResult result);
HcclResult result_named(std::string_view name);  // HCCL_SUCCESS for none

}  // namespace anynpu::hccl
