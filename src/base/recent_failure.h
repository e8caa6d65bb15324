// SPDX-License-Identifier: Apache-2.0
// The last error code and message of each interface, per thread. The messages of acl can also be
// per process (acl.json's err_msg_mode). Thread-safe; works in static destructors and in forked
// children.
#pragma once

#include <cstdint>
#include <string>

namespace anynpu {

enum class Interface : uint8_t { acl, hpe };

// The code of the thread's most recent failure; take also resets it to 0.
void keep_last_number(Interface interface, int32_t number);
int32_t last_number(Interface interface);
int32_t take_last_number(Interface interface);

enum class MessageScope { thread, process };
void set_message_scope(MessageScope scope);  // of acl; thread is the default
MessageScope message_scope();

void keep_message(Interface interface, std::string message);
// Returns and clears the message of the most recent failure; "" when there was none. Valid until
// the thread's next call.
const char* take_message(Interface interface);
// The message of the thread, without clearing it.
const char* last_message(Interface interface);

}  // namespace anynpu
