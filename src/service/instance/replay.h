// SPDX-License-Identifier: Apache-2.0
// Execution of model instances. A captured instance of one stream is one task of the stream it is
// executed on, which runs the recorded tasks one after the other; with several streams, the others
// run concurrently, each on a stream of the instance, and wait only at their joins. A built
// instance runs all its lanes in this way. Thread-safe.
#pragma once

#include <cstdint>

#include "service/instance/instance.h"

namespace anynpu::service {

// Queues one run on the stream.
Status execute_instance_async(Handle instance, Handle stream);
// Runs it and waits: -1: forever, else milliseconds.
Status execute_instance(Handle instance, int32_t timeout_ms);
// Stops the run of a built instance; it can be executed again.
Status abort_instance(Handle instance);

}  // namespace anynpu::service
