// SPDX-License-Identifier: Apache-2.0
#include "check/lifetimes.h"

#include <deque>
#include <map>
#include <mutex>

#include "acl/dvpp/hi_dvpp.h"
#include "base/format.h"
#include "base/text.h"
#include "check/call.h"
#include "check/contents.h"
#include "check/host_buffers.h"
#include "check/lifetime_table.h"
#include "check/order.h"
#include "check/report.h"
#include "check/runtime_state.h"

namespace anynpu::check {

namespace {

constexpr uint64_t kFirstHandle = uint64_t{1} << 56;  // tags of handles start at 2, at bit 55
constexpr size_t kMostDead = 100000;

// What ended an object without destroying it: reset_device, destroy_context. Null: nothing.
struct Ended {
  const char* by = nullptr;
  Site site;
  bool told = false;  // it was destroyed too late, and this was reported
};

struct Object {
  const Kind* kind = nullptr;
  Site created, destroyed;
  bool of_default_context = false;
  int32_t device = -1;
  std::optional<uint64_t> bundle = {};  // of a model that came with one and goes with it
  uint32_t holders = 1;                 // how often it is to be destroyed
  uint64_t context = 0;                 // of a stream
  std::vector<uint64_t> memory = {};    // that a model was loaded into
  Ended ended = {};
};

// A handle says by itself what it is; a number is one of its kind.
struct Key {
  const Kind* kind;
  uint64_t value;
  bool operator<(const Key& other) const {
    return value != other.value ? value < other.value : kind < other.kind;
  }
};
Key key_of(const Kind& kind, uint64_t value) { return {kind.numbered ? &kind : nullptr, value}; }

struct State {
  std::mutex mutex;
  std::map<Key, Object> live, dead;
  std::deque<Key> dead_order;
  struct Memory {
    Block block;
    const Kind* kind;
    int32_t device = -1;
    Ended ended = {};
  };
  std::map<uint64_t, Memory> memory, freed;  // by base
};
State& state() {
  static auto* s = new State;
  return *s;
}

const State::Memory* holding(const std::map<uint64_t, State::Memory>& blocks, uint64_t address) {
  auto found = blocks.upper_bound(address);
  if (found == blocks.begin()) return nullptr;
  --found;
  return address - found->second.block.base < found->second.block.bytes ? &found->second : nullptr;
}

bool is_memory(const Kind* kind) {
  return kind == &kDeviceMemory || kind == &kHostMemory || kind == &kMediaMemory ||
         kind == &kPoolMemory;
}

// The device's own: a reset ends it.
bool is_of_device(const Kind* kind) {
  return kind == &kDeviceMemory || kind == &kMediaMemory || kind == &kPoolMemory ||
         kind == &kStream || kind == &kContext || kind == &kEvent || kind == &kModel;
}

const char* ending(const Kind& kind) {
  return python_is_here() && kind.python[0] != '-' ? kind.python : kind.c;
}

void add_memory(const LifetimeRow& row, Call& call) {
  State::Memory memory;
  memory.kind = row.kind;
  memory.block.base = *call.pointer<uint64_t>(static_cast<size_t>(row.argument));
  memory.block.bytes = call.argument(static_cast<size_t>(row.size));
  memory.block.on_device = row.kind != &kHostMemory || runs_on_device();
  memory.block.kind = row.kind;
  memory.block.created = call.site();
  memory.device = row.kind == &kHostMemory ? -1 : context_now().device;
  // The host fills managed memory by plain stores.
  if (row.kind == &kDeviceMemory && !runs_on_device() &&
      std::string_view(row.function).starts_with("aclrtMalloc"))
    begin_contents(memory.block.base, memory.block.bytes);
  const std::lock_guard lock(state().mutex);
  // The address is in use again: what was freed there is forgotten.
  auto& freed = state().freed;
  auto at = freed.lower_bound(memory.block.base);
  if (at != freed.begin()) --at;
  while (at != freed.end() && at->first < memory.block.base + memory.block.bytes) {
    const Block& old = at->second.block;
    at = old.base + old.bytes > memory.block.base ? freed.erase(at) : std::next(at);
  }
  state().memory[memory.block.base] = std::move(memory);
}

void end_memory(uint64_t address, const Site& site) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().memory.find(address);
  if (found == state().memory.end()) return;
  State::Memory ended = std::move(found->second);
  state().memory.erase(found);
  ended.block.freed = site;
  if (state().freed.size() >= kMostDead) state().freed.clear();
  state().freed[address] = std::move(ended);
  end_contents(address);
}

// The work and weight memory that a model was loaded into.
std::vector<uint64_t> memory_of_model(const Call& call) {
  const std::string_view name = call.function().name;
  if (name == "aclmdlLoadFromFileWithMem") return {call.argument(2), call.argument(4)};
  if (name == "aclmdlLoadFromMemWithMem") return {call.argument(3), call.argument(5)};
  return {};
}

void add_object(const LifetimeRow& row, uint64_t value, Call& call) {
  const bool may_be_none = !row.kind->numbered || row.argument == kReturned;
  if (may_be_none && value == row.kind->none) return;
  Object object;
  object.kind = row.kind;
  object.created = call.site();
  if (is_of_device(row.kind)) {
    const ContextNow now = context_now();
    object.device = row.kind == &kContext ? static_cast<int32_t>(call.argument(1)) : now.device;
    object.memory = memory_of_model(call);
    if (row.kind == &kStream) object.context = now.context;
    const std::lock_guard lock(state().mutex);
    object.of_default_context = !state().live.contains({nullptr, now.context});
  }
  const std::lock_guard lock(state().mutex);
  const Key key = key_of(*row.kind, value);
  state().dead.erase(key);
  state().live[key] = std::move(object);
}

// Called with the lock held.
void bury(std::map<Key, Object>::iterator found, const Site& site) {
  found->second.destroyed = site;
  state().dead_order.push_back(found->first);
  if (state().dead_order.size() > kMostDead) {
    state().dead.erase(state().dead_order.front());
    state().dead_order.pop_front();
  }
  state().dead[found->first] = std::move(found->second);
  state().live.erase(found);
}

void end_object(const LifetimeRow& row, uint64_t value, const Site& site) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().live.find(key_of(*row.kind, value));
  if (found != state().live.end() && --found->second.holders == 0) bury(found, site);
  if (row.kind != &kBundle) return;
  for (auto at = state().live.begin(); at != state().live.end();) {
    const auto next = std::next(at);
    if (at->second.bundle == value) bury(at, site);
    at = next;
  }
}

void share_object(const LifetimeRow& row, uint64_t value) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().live.find(key_of(*row.kind, value));
  if (found != state().live.end()) ++found->second.holders;
}

// A bundle returns the ids of its models one by one.
void note_model_of_bundle(Call& call) {
  const uint64_t bundle = call.argument(0);
  const std::lock_guard lock(state().mutex);
  const auto owner = state().live.find(key_of(kBundle, bundle));
  if (owner == state().live.end()) return;
  const Key key = key_of(kModel, *call.pointer<uint32_t>(2));
  state().dead.erase(key);
  Object model;
  model.kind = &kModel;
  model.created = owner->second.created;
  model.bundle = bundle;
  state().live[key] = std::move(model);
}

void note_row(const LifetimeRow& row, Call& call) {
  if (!call.worked()) return;
  const auto index = static_cast<size_t>(row.argument);
  if (row.role == LifetimeRow::share) return share_object(row, call.argument(index));
  if (row.role == LifetimeRow::destroy) {
    if (is_memory(row.kind)) return end_memory(call.argument(index), call.site());
    return end_object(row, call.argument(index), call.site());
  }
  if (row.argument != kReturned && row.by_pointer && !call.pointer(index)) return;
  if (is_memory(row.kind)) return add_memory(row, call);
  uint64_t value = 0;
  if (row.argument == kReturned)
    value = call.result();
  else if (!row.by_pointer)
    value = call.argument(index);
  else
    value = row.kind->numbered ? *call.pointer<uint32_t>(index) : *call.pointer<uint64_t>(index);
  add_object(row, value, call);
}

// An address that the library returned. If it is memory of its own (the packets of an encoder),
// what the program had there and freed is forgotten. A getter may also return what the program
// stored: then nothing is allocated there.
void note_handed_out(uint64_t address) {
  {
    const std::lock_guard lock(state().mutex);
    if (!holding(state().freed, address)) return;
  }
  if (!is_allocated(address)) return;
  const std::lock_guard lock(state().mutex);
  if (const State::Memory* old = holding(state().freed, address))
    state().freed.erase(old->block.base);
}

void note_handed_out(Call& call) {
  if (!call.function().returns_code) return note_handed_out(call.result());
  if (!call.worked() || call.function().name != std::string_view("hi_mpi_venc_get_stream")) return;
  const auto* stream = call.pointer<const hi_venc_stream>(1);
  for (hi_u32 i = 0; i < stream->pack_cnt; ++i) note_handed_out(word(stream->pack[i].addr));
}

// What happened to the object of `key`, if it was destroyed.
std::optional<Object> gone(const Key& key) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().dead.find(key);
  if (found == state().dead.end()) return std::nullopt;
  return found->second;
}

std::optional<Block> freed_at(uint64_t address) {
  const std::lock_guard lock(state().mutex);
  const State::Memory* found = holding(state().freed, address);
  if (!found) return std::nullopt;
  return found->block;
}

void report_gone(Call& call, const Object& object, uint64_t value) {
  report({"use-after-destroy",
          format("{} uses {} ({:#x}) that was destroyed; destroy it after its last use",
                 call.function().shown(), with_article(object.kind->name), value),
          {{"used", call.site()}, {"destroyed", object.destroyed}, {"created", object.created}}});
}

void report_late(Call& call, const Kind& kind, const Ended& ended, const Site& created) {
  report({"teardown-order",
          format("{} came after {}, which had ended the {} already; destroy and free what belongs "
                 "to a device before {}",
                 call.function().shown(), ended.by, kind.name, ended.by),
          {{"called", call.site()}, {"ended", ended.site}, {"created", created}}});
}

// Something that a reset or the end of its context has ended before.
bool check_late(const LifetimeRow& row, Call& call, uint64_t value) {
  Ended ended;
  Site created;
  {
    const std::lock_guard lock(state().mutex);
    if (is_memory(row.kind)) {
      const auto found = state().memory.find(value);
      if (found == state().memory.end()) return false;
      ended = found->second.ended;
      found->second.ended.told = ended.by != nullptr;
      created = found->second.block.created;
    } else {
      const auto found = state().live.find(key_of(*row.kind, value));
      if (found == state().live.end()) return false;
      ended = found->second.ended;
      found->second.ended.told = ended.by != nullptr;
      created = found->second.created;
    }
  }
  if (!ended.by) return false;
  report_late(call, *row.kind, ended, created);
  return true;
}

// The memory that a loaded model uses is freed after it.
void check_memory_of_models(Call& call, uint64_t address) {
  Site loaded;
  {
    const std::lock_guard lock(state().mutex);
    for (const auto& [key, object] : state().live) {
      if (object.kind == &kModel && contains(object.memory, address)) loaded = object.created;
    }
  }
  if (!loaded) return;
  report({"teardown-order",
          format("{} frees memory {:#x} that a loaded model uses; unload the model first ({})",
                 call.function().shown(), address, ending(kModel)),
          {{"freed", call.site()}, {"loaded", loaded}}});
}

// Streams come to an end before their context.
void check_context(Call& call) {
  const uint64_t context = call.argument(0);
  const Site site = call.site();
  Site created;
  size_t count = 0;
  {
    const std::lock_guard lock(state().mutex);
    if (!state().live.contains({nullptr, context})) return;
    for (auto& [key, object] : state().live) {
      if (object.kind != &kStream || object.context != context || object.ended.by) continue;
      object.ended = {ending(kContext), site};
      created = object.created;
      ++count;
    }
  }
  if (count == 0) return;
  report({"teardown-order",
          format("{} ends a context that still has {} stream{}; destroy the streams first ({})",
                 call.function().shown(), count, count == 1 ? "" : "s", ending(kStream)),
          {{"destroyed", site}, {"stream created", created}}});
}

void check_destroy(const LifetimeRow& row, Call& call) {
  const uint64_t value = call.argument(static_cast<size_t>(row.argument));
  if (check_late(row, call, value)) return;
  if (row.kind == &kContext) check_context(call);
  if (is_memory(row.kind)) {
    check_memory_of_models(call, value);
    {
      const std::lock_guard lock(state().mutex);
      if (holding(state().memory, value)) return;
    }
    const auto block = freed_at(value);
    if (!block) return;
    return report(
        {"double-free",
         format("{} frees {:#x} ({} bytes), which was freed already; free it once",
                call.function().shown(), value, block->bytes),
         {{"freed again", call.site()}, {"freed", block->freed}, {"created", block->created}}});
  }
  const auto object = gone(key_of(*row.kind, value));
  if (!object) return;
  report({"double-free",
          format("{} destroys {} ({:#x}) that was destroyed already; destroy it once",
                 call.function().shown(), with_article(row.kind->name), value),
          {{"destroyed again", call.site()},
           {"destroyed", object->destroyed},
           {"created", object->created}}});
}

void check_memory(Call& call, const char* what, uint64_t address, uint64_t bytes) {
  {
    const std::lock_guard lock(state().mutex);
    if (holding(state().memory, address)) return;
  }
  const auto block = freed_at(address);
  if (!block) {
    check_host_buffer(call, what, address, bytes);
    return;
  }
  if (!call.is_new(block->base)) return;
  report(
      {"use-after-free",
       format("{}: {} = {:#x} lies in memory ({} bytes from {:#x}) that was freed; free it after "
              "its last use",
              call.function().shown(), what, address, block->bytes, block->base),
       {{"used", call.site()}, {"freed", block->freed}, {"created", block->created}}});
}

// Of a call that failed.
void check_models(Call& call) {
  const Rows rows = lifetimes_of(call.function().name);
  if (rows.first && rows.first->role == LifetimeRow::destroy) return;
  for (size_t i = 0; i < call.arguments(); ++i) {
    if (call.function().parameters[i].kind != Parameter::model) continue;
    const uint64_t value = call.argument(i);
    if (const auto object = gone({&kModel, value})) report_gone(call, *object, value);
  }
}

// A reset of the device ends what it has; for streams of the default context this is documented,
// so that they are no leak.
void end_device(int32_t device, const Ended& ended) {
  const std::lock_guard lock(state().mutex);
  for (auto& [base, memory] : state().memory) {
    if (memory.device == device && !memory.ended.by) memory.ended = ended;
  }
  for (auto& [key, object] : state().live) {
    if (is_of_device(object.kind) && object.device == device && !object.ended.by)
      object.ended = ended;
  }
}

}  // namespace

void check_arguments(Call& call) {
  const Rows rows = lifetimes_of(call.function().name);
  const LifetimeRow* ends =
      rows.first && rows.first->role == LifetimeRow::destroy ? rows.first : nullptr;
  if (ends) check_destroy(*ends, call);
  for (size_t i = 0; i < call.arguments(); ++i) {
    if (ends && static_cast<int>(i) == ends->argument) continue;
    const uint64_t value = call.argument(i);
    const Parameter& parameter = call.function().parameters[i];
    if (value >= kFirstHandle) {
      check_handle(call, value);
    } else if (parameter.kind == Parameter::memory && value != 0) {
      check_memory(call, parameter.name, value, 0);
    }
  }
}

void check_handle(Call& call, uint64_t handle) {
  if (const auto object = gone({nullptr, handle})) report_gone(call, *object, handle);
}

void note_lifetimes(Call& call) {
  if (!call.worked()) check_models(call);
  note_handed_out(call);
  const Rows rows = lifetimes_of(call.function().name);
  if (rows.first) note_row(*rows.first, call);
  if (rows.second) note_row(*rows.second, call);
  if (call.worked() && call.function().name == std::string_view("aclmdlBundleGetModelId"))
    note_model_of_bundle(call);
  if (const int32_t device = note_devices(call); device >= 0)
    end_device(device, {call.function().shown(), call.site()});
}

std::optional<Block> block_at(uint64_t address) {
  const std::lock_guard lock(state().mutex);
  const State::Memory* found = holding(state().memory, address);
  if (!found) return std::nullopt;
  return found->block;
}

void check_span(Call& call, const char* what, uint64_t address, uint64_t bytes) {
  const auto block = block_at(address);
  if (!block) return check_memory(call, what, address, bytes);
  const uint64_t left = block->base + block->bytes - address;
  if (bytes <= left) return;
  report({"past-the-end",
          format("{}: {} = {:#x} has {} bytes left in its allocation of {}, the call touches {}; "
                 "allocate more or use less",
                 call.function().shown(), what, address, left, block->bytes, bytes),
          {{"used", call.site()}, {"created", block->created}}});
}

void report_leaks() {
  std::map<uint64_t, State::Memory> memory;
  std::map<Key, Object> live;
  {
    const std::lock_guard lock(state().mutex);
    memory.swap(state().memory);
    live.swap(state().live);
  }
  const auto kind_word = [](const char* name) {
    std::string word = std::string("leak-") + name;
    for (char& letter : word) {
      if (letter == ' ') letter = '-';
    }
    return word;
  };
  for (const auto& [base, entry] : memory) {
    if (entry.ended.told) continue;
    report({kind_word(entry.kind->name),
            format("{} bytes of {} were never freed; call {}", entry.block.bytes, entry.kind->name,
                   ending(*entry.kind)),
            {{"created", entry.block.created}},
            entry.block.bytes});
  }
  for (const auto& [key, object] : live) {
    if (object.bundle) continue;  // it goes with its bundle, which is reported
    if (object.ended.told) continue;
    if (object.kind == &kStream && object.ended.by &&
        (object.of_default_context || object.ended.by == ending(kContext)))
      continue;
    report({kind_word(object.kind->name),
            format("{} was never destroyed; call {}", with_article(object.kind->name),
                   ending(*object.kind)),
            {{"created", object.created}}});
  }
  report_devices();
}

}  // namespace anynpu::check
