// SPDX-License-Identifier: Apache-2.0
// The record of executed operators: one file for each that differs from those before it in type,
// tensors or attributes, in the form that `atc --singleop` reads. Finalising ends it. Thread-safe.
#pragma once

#include <atomic>

#include "service/op/op_objects.h"

namespace anynpu::service {

namespace detail {
extern std::atomic<bool> records_ops;
}

// Makes the folder. Fails with bad_call_order while one runs, as stop does while none does.
Status start_op_record(const char* folder);
Status stop_op_record();

inline bool records_ops() { return detail::records_ops.load(std::memory_order_relaxed); }
// A file that cannot be written is a line in the log: the operator runs all the same.
void record_op(singleop::SingleOp op);
// As it is executed: with the extents of this run.
void record_op(const OpHandle& handle);

}  // namespace anynpu::service
