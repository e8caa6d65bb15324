// SPDX-License-Identifier: Apache-2.0
// C calls timed from inside the Python process (rows/acl_python_call.py): the same library,
// the same state, the other side of each pair. Each function returns nanoseconds per call.
#include "acl/acl.h"
#include "harness.h"

using anynpu::bench::keep;
using anynpu::bench::ns_per_call;

extern "C" {

double bench_get_device(size_t calls) {
  return ns_per_call(calls, [] {
    int32_t device = -1;
    keep(aclrtGetDevice(&device));
    keep(device);
  });
}

double bench_get_data_buffer_size(size_t calls, void* buffer) {
  return ns_per_call(calls,
                     [&] { keep(aclGetDataBufferSizeV2(static_cast<aclDataBuffer*>(buffer))); });
}

double bench_stream_query(size_t calls, void* stream) {
  return ns_per_call(calls, [&] {
    aclrtStreamStatus status;
    keep(aclrtStreamQuery(stream, &status));
    keep(status);
  });
}

double bench_memset(size_t calls, void* memory, size_t bytes) {
  return ns_per_call(calls, [&] { keep(aclrtMemset(memory, bytes, 0, bytes)); });
}
}
