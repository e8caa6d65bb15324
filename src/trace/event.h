// SPDX-License-Identifier: Apache-2.0
// A trace record: 32 bytes, trivially copyable, frozen: the exporters and every module that records
// depend on this layout.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace anynpu::trace {

// One bit each in the global mask. New categories go before `count`, never in between: exporters
// store the numbers.
enum class Category : uint8_t {
  api,       // a call of a front door, on the thread that made it
  task,      // a task of a stream, on the thread that ran it
  op,        // one operator of a model
  copy,      // memory copies and fills; arg = bytes
  memory,    // allocation and release; arg = bytes
  media,     // picture and video work
  npc,       // NPC programs
  callback,  // callbacks of the program
  user,      // ranges and marks set by the program
  counter,   // values over time
  count
};

using Mask = uint32_t;
constexpr Mask bit(Category category) { return Mask{1} << static_cast<unsigned>(category); }
constexpr Mask kAllCategories = (Mask{1} << static_cast<unsigned>(Category::count)) - 1;

constexpr std::string_view category_name(Category category) {
  constexpr std::string_view names[] = {"api",   "task", "op",       "copy", "memory",
                                        "media", "npc",  "callback", "user", "counter"};
  static_assert(sizeof names / sizeof names[0] == static_cast<size_t>(Category::count));
  return category < Category::count ? names[static_cast<size_t>(category)] : "unknown";
}

enum class Phase : uint8_t {
  slice,    // began at tsc, lasted `duration` ticks
  instant,  // happened at tsc
  counter,  // arg is the value (a signed integer) from tsc on
  thread,   // internal: what follows in this ring was recorded by the thread with id arg
  detail,   // more about the next event of this thread, which has the same tsc; see Detail
};

using NameId = uint32_t;  // see names.h; 0 = no name

struct Event {
  uint64_t tsc;          // ticks() at the start
  uint64_t arg;          // bytes, result code, value, shape id: what the category says
  uint32_t correlation;  // ties an API call to the tasks it caused; 0 = none
  NameId name;
  uint64_t duration : 48;  // ticks: 26 hours at 3 GHz, longer slices are cut
  uint64_t category_bits : 8;
  uint64_t phase_bits : 8;

  Category category() const { return static_cast<Category>(category_bits); }
  Phase phase() const { return static_cast<Phase>(phase_bits); }
  int64_t value() const { return static_cast<int64_t>(arg); }
};
static_assert(sizeof(Event) == 32 && std::is_trivially_copyable_v<Event>);

// What a Phase::detail record carries. The fields mean what the category of its event says:
//   task    arg = stream | number of the task in its stream << 32, extra = ticks it waited in the
//           queue, first = device (-1: none),
//           second = engine
//   memory  arg = address, extra = bytes in use on the device afterwards, first = device (-1: host)
//           an instant is a tensor of a model that is loaded: arg = first step | last step << 32,
//           first = name of the model
//   user    arg = kind of the stamp | category of the program << 32, first = name of the domain,
//           second = number of the range or mark
struct Detail {
  uint64_t arg = 0;
  uint64_t extra = 0;  // 48 bits
  uint32_t first = 0;
  uint32_t second = 0;
};

constexpr uint64_t kLongestDuration = (uint64_t{1} << 48) - 1;

constexpr Event make_event(Category category, Phase phase, NameId name, uint64_t tsc,
                           uint64_t duration, uint32_t correlation, uint64_t arg) {
  Event event{};
  event.tsc = tsc;
  event.arg = arg;
  event.correlation = correlation;
  event.name = name;
  event.duration = duration < kLongestDuration ? duration : kLongestDuration;
  event.category_bits = static_cast<uint64_t>(category);
  event.phase_bits = static_cast<uint64_t>(phase);
  return event;
}

}  // namespace anynpu::trace
