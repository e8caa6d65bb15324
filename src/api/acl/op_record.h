// SPDX-License-Identifier: Apache-2.0
// The record of executed operators (aclopStartDumpArgs): one file for each type with its tensors
// and attributes, in the form that `atc --singleop` reads. Thread-safe.
#pragma once

#include <atomic>

#include "api/acl/op_objects.h"

namespace anynpu::acl {

namespace detail {
extern std::atomic<bool> records_ops;
}

inline bool records_ops() { return detail::records_ops.load(std::memory_order_relaxed); }
// A file that cannot be written is a line in the log: the operator runs all the same.
void record_op(singleop::SingleOp op);
// As it is executed: with the extents of this run.
void record_op(const OpHandle& handle);

}  // namespace anynpu::acl
