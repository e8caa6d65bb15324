// SPDX-License-Identifier: Apache-2.0
// What the last failed calls left behind: a number and a sentence for each interface, per thread.
// The sentences of acl may also be the process's (acl.json's err_msg_mode). Thread-safe; works in
// static destructors and in forked children.
#pragma once

#include <cstdint>
#include <string>

namespace anynpu {

enum class Interface : uint8_t { acl, hpe };

// The number of the thread's most recent failure; take also resets it to 0.
void keep_last_number(Interface interface, int32_t number);
int32_t last_number(Interface interface);
int32_t take_last_number(Interface interface);

enum class MessageScope { thread, process };
void set_message_scope(MessageScope scope);  // of acl; thread is the default

void keep_sentence(Interface interface, std::string sentence);
// The sentence of the most recent failure, which is forgotten then; "" when there was none. Valid
// until the thread's next call.
const char* take_sentence(Interface interface);
// The same without forgetting it: that of the thread.
const char* last_sentence(Interface interface);

}  // namespace anynpu
