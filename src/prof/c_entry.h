// SPDX-License-Identifier: Apache-2.0
// C functions for Python that pyACL does not have: sessions of anynpu.profiler, marks with a
// domain, and the checksum of the raw data. Thread-safe; errors leave their message in `message`
// (cut to `message_bytes`, always terminated).
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t anynpu_crc32c(const void* data, size_t bytes);

// Starts a session below `output`. Returns its number, or 0. `settings`: a JSON object of strings.
uint64_t anynpu_prof_start(const char* output, uint64_t data_types, uint32_t metrics,
                           const char* settings, char* message, size_t message_bytes);
// Whether profiling is already controlled elsewhere, so that no session can be started.
int anynpu_prof_taken(void);
// The path of a session's directory; "" when there is none. Valid until it is stopped.
const char* anynpu_prof_path(uint64_t session);
// Returns 0, or 1 with the message.
int anynpu_prof_stop(uint64_t session, char* message, size_t message_bytes);

// Marks of mstx; no effect unless they are recorded. start returns 0 then.
void anynpu_prof_mark(const char* text, const char* domain);
// A mark that is also put into a stream (its handle). Returns 0, or 1 with the message.
int anynpu_prof_mark_ex(const char* text, const char* domain, uint64_t stream, char* message,
                        size_t message_bytes);
uint32_t anynpu_prof_range_start(const char* text, const char* domain);
int anynpu_prof_range_stop(uint32_t range);
int anynpu_prof_marks_on(void);

// What the machine knows about a device: a JSON object with product, bus, memory_total,
// memory_used, load_percent, temperature_c and power_w, without those that are unknown. Returns 0,
// or 1 with the message.
int anynpu_device_health(int32_t device, char* text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
