// SPDX-License-Identifier: Apache-2.0
#include "base/recent_failure.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "base/fork_guard.h"

namespace anynpu {

namespace {

constexpr size_t kInterfaces = 2;

struct Messages {
  std::string pending;
  std::string shown;  // what the last take returned points into this
};

// Trivial, so that they can be read after the thread's other variables are gone.
thread_local bool thread_is_ending = false;
thread_local int32_t numbers[kInterfaces] = {};

struct ThreadMessages {
  Messages of[kInterfaces];
  ~ThreadMessages() { thread_is_ending = true; }
};

Messages& thread_messages(Interface interface) {
  static auto* after_the_end = new Messages[kInterfaces];  // for calls from static destructors
  const auto index = static_cast<size_t>(interface);
  if (thread_is_ending) return after_the_end[index];
  thread_local ThreadMessages messages;
  return messages.of[index];
}

std::atomic<MessageScope> scope{MessageScope::thread};

struct ProcessMessage {
  std::mutex mutex;
  std::string pending;
};

ProcessMessage& process_message() {
  static auto* message = new ProcessMessage;
  return *message;
}

// A forked child must not wait for a lock that a thread of its parent may have held.
bool process_wide(Interface interface) {
  return interface == Interface::acl &&
         scope.load(std::memory_order_relaxed) == MessageScope::process && !in_forked_child();
}

}  // namespace

void keep_last_number(Interface interface, int32_t number) {
  numbers[static_cast<size_t>(interface)] = number;
}

int32_t last_number(Interface interface) { return numbers[static_cast<size_t>(interface)]; }

int32_t take_last_number(Interface interface) {
  return std::exchange(numbers[static_cast<size_t>(interface)], 0);
}

MessageScope message_scope() { return scope.load(std::memory_order_relaxed); }
void set_message_scope(MessageScope value) { scope.store(value, std::memory_order_relaxed); }

void keep_message(Interface interface, std::string message) {
  if (!process_wide(interface)) {
    thread_messages(interface).pending = std::move(message);
    return;
  }
  std::lock_guard lock(process_message().mutex);
  process_message().pending = std::move(message);
}

const char* take_message(Interface interface) {
  Messages& own = thread_messages(interface);
  if (process_wide(interface)) {
    std::lock_guard lock(process_message().mutex);
    own.pending.swap(process_message().pending);
  }
  own.shown.swap(own.pending);
  own.pending.clear();
  return own.shown.c_str();
}

const char* last_message(Interface interface) { return thread_messages(interface).pending.c_str(); }

}  // namespace anynpu
