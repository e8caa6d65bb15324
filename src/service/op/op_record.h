// SPDX-License-Identifier: Apache-2.0
// Records executed operators: one file for each new combination of type, tensors and attributes, in
// the form that `atc --singleop` reads. Finalising ends it. Thread-safe.
#pragma once

#include <atomic>

#include "service/op/op_objects.h"

namespace anynpu::service {

namespace detail {
extern std::atomic<bool> records_ops;
}

// Creates the folder. Fails with bad_call_order if one is running; stop fails if none is.
Status start_op_record(const char* folder);
Status stop_op_record();

inline bool records_ops() { return detail::records_ops.load(std::memory_order_relaxed); }
// A file that cannot be written is a line in the log: the operator still runs.
void record_op(singleop::SingleOp op);
// As it is executed: with the extents of this run.
void record_op(const OpHandle& handle);

}  // namespace anynpu::service
