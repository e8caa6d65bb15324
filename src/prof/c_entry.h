// SPDX-License-Identifier: Apache-2.0
// What Python needs of profiling and pyACL does not have: sessions of anynpu.profiler, marks with a
// domain, and the checksum of the raw data. Thread-safe; failures leave their sentence in `message`
// (cut to `message_bytes`, always terminated).
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t anynpu_crc32c(const void* data, size_t bytes);

// Starts a session below `output`. Returns its number, or 0. `settings` is a JSON object of texts.
uint64_t anynpu_prof_start(const char* output, uint64_t data_types, uint32_t metrics,
                           const char* settings, char* message, size_t message_bytes);
// Whether somebody else controls profiling, so that none can be started.
int anynpu_prof_taken(void);
// The path of a session's directory; "" when there is none. Valid until it is stopped.
const char* anynpu_prof_path(uint64_t session);
// Returns 0; else 1 with the sentence.
int anynpu_prof_stop(uint64_t session, char* message, size_t message_bytes);

// Marks of mstx; nothing happens while nobody records them. start gives 0 then.
void anynpu_prof_mark(const char* text, const char* domain);
// And into a stream (its handle). Returns 0; else 1 with the sentence.
int anynpu_prof_mark_ex(const char* text, const char* domain, uint64_t stream, char* message,
                        size_t message_bytes);
uint32_t anynpu_prof_range_start(const char* text, const char* domain);
int anynpu_prof_range_stop(uint32_t range);
int anynpu_prof_marks_on(void);

#ifdef __cplusplus
}
#endif
