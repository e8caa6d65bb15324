// SPDX-License-Identifier: Apache-2.0
// Subscriptions to the operators of a model. What comes out of the pipe is read with
// prof/subscription.h. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/handle_table.h"
#include "prof/subscription.h"

namespace anynpu::service {

// `fd`: the write end of a pipe, as the pointer that the documents ask for.
Result<prof::SubscribeConfig> make_subscribe_config(int8_t times, uint32_t metrics, const void* fd);
// Fails with model_not_found, model_already_subscribed, profiling_conflict, or
// invalid_profiling_config when another model of the device has other settings.
Status subscribe_model(uint32_t model_id, Handle config);
// Fails with model_not_found for a model that is not subscribed.
Status unsubscribe_model(uint32_t model_id);

// Texts of the record `index` of `bytes` at `data`. They stay valid.
Result<std::string_view> record_type(const void* data, size_t bytes, uint32_t index);
Result<std::string_view> record_name(const void* data, size_t bytes, uint32_t index);
// The id of the thread as text; valid until the next call in the calling thread.
Result<const char*> record_thread(const void* data, size_t bytes, uint32_t index);
// Copies a text with a closing zero; cut where it does not fit.
Status copy_text(std::string_view text, char* to, size_t room);

}  // namespace anynpu::service
