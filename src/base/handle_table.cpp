// SPDX-License-Identifier: Apache-2.0
#include "base/handle_table.h"

#include <new>

namespace anynpu {

namespace {

constexpr std::array kTagNames = {std::string_view("none"), std::string_view("removed"),
#define X(name, text) std::string_view(text),
                                  ANYNPU_HANDLE_TAGS(X)
#undef X
};

constexpr uint64_t kTagShift = 32;
constexpr uint64_t kGenerationShift = 40;
constexpr uint64_t kGenerationMask = 0xff'ffff;
constexpr uint64_t kRemoved = uint64_t{1} << kTagShift;  // tag `removed`, counted by nobody
constexpr uint64_t kLowBits = (uint64_t{1} << kGenerationShift) - 1;  // tag and count
constexpr uint32_t kMaxSlots = 0x7fff'fff0;

uint64_t tag_of(Handle handle) { return (handle >> 55) & 0xff; }

}  // namespace

std::string_view name_of(HandleTag tag) {
  const auto index = static_cast<size_t>(tag);
  return index < kTagNames.size() ? kTagNames[index] : "unknown";
}

HandleTable& HandleTable::instance() {
  static auto* table = new HandleTable;  // never destroyed: programs free handles in destructors
  return *table;
}

bool HandleTable::grow() {
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    if (buckets_[bucket].load(std::memory_order_relaxed)) continue;
    auto* slots = new (std::nothrow) Slot[size_t{1} << (kFirstBits + bucket)];
    if (!slots) return false;
    buckets_[bucket].store(slots, std::memory_order_release);
    return true;
  }
  return false;
}

Handle HandleTable::insert_untyped(HandleTag tag, std::shared_ptr<void> object) {
  uint32_t index;
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      if (used_ >= kMaxSlots) return 0;
      if (!slot_at(used_) && !grow()) return 0;
      index = used_++;
    }
  }
  Slot* slot = slot_at(index);
  slot->object = std::move(object);
  // Other threads may hold short-lived pins on a free slot (stale handles): add, never overwrite.
  const uint64_t before =
      slot->word.fetch_add(static_cast<uint64_t>(tag) << kTagShift, std::memory_order_acq_rel);
  live_[static_cast<size_t>(tag)].fetch_add(1, std::memory_order_relaxed);
  const uint64_t generation = (before >> kGenerationShift) & kGenerationMask;
  return static_cast<uint64_t>(tag) << 55 | generation << 31 | index;
}

std::atomic<size_t> HandleTable::retired_count_{0};

HandleTable::Slot* HandleTable::pin_counted(Slot* slot, uint64_t life) {
  const uint64_t before = slot->word.fetch_add(1, std::memory_order_acq_rel);
  if ((before >> kTagShift) == life) return slot;
  unpin_counted(slot);
  return nullptr;
}

void HandleTable::unpin_counted(Slot* slot) {
  const uint64_t before = slot->word.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & kLowBits) == (kRemoved | 1)) instance().release(slot);
}

std::shared_ptr<void> HandleTable::remove_untyped(Handle handle, HandleTag tag) {
  const uint64_t life = life_of(handle, tag);
  Slot* slot = slot_of(handle, tag);
  // Counted while it is removed, so that no other thread can free it before the object is copied.
  if (!slot || !pin_counted(slot, life)) return nullptr;
  const uint64_t next = ((life >> 8) + 1) & kGenerationMask;
  uint64_t word = slot->word.load(std::memory_order_acquire);
  do {
    if ((word >> kTagShift) != life) {
      unpin_counted(slot);  // another thread removed it first
      return nullptr;
    }
    // Sequentially consistent: from here on a look at the cells misses no pin that was granted.
  } while (!slot->word.compare_exchange_weak(
      word, next << kGenerationShift | kRemoved | (word & 0xffff'ffffu),
      std::memory_order_seq_cst));
  std::shared_ptr<void> object = slot->object;
  live_[static_cast<size_t>(tag)].fetch_sub(1, std::memory_order_relaxed);
  unpin_counted(slot);
  return object;
}

// Called with the mutex held. The slot may be in a later life than its caller thinks: only its word
// decides, and a slot that is removed, counted by nobody and in no cell may be freed by anybody.
HandleTable::Freed HandleTable::try_free(Slot* slot, std::shared_ptr<void>* object) {
  uint64_t word = slot->word.load(std::memory_order_seq_cst);
  do {
    if ((word & kLowBits) != kRemoved) return Freed::not_mine;
    if (is_in_cell(slot)) return Freed::in_use;
  } while (!slot->word.compare_exchange_weak(word, word & ~kLowBits, std::memory_order_seq_cst));
  // The slot is free for lookups (they fail) but not yet on the free list.
  *object = std::move(slot->object);
  slot->object = nullptr;
  // A slot whose generation wrapped is never used again.
  if ((word >> kGenerationShift) != 0) free_.push_back(index_of(slot));
  return Freed::yes;
}

void HandleTable::release(Slot* slot) {
  std::shared_ptr<void> object;  // destroyed outside the lock
  {
    std::lock_guard lock(mutex_);
    if (try_free(slot, &object) != Freed::in_use) return;
    retired_.push_back(slot);
    retired_count_.store(retired_.size(), std::memory_order_seq_cst);
  }
  // A thread that lets go of its cell reads retired_count_ right after. Without this barrier its
  // read could pass its write, and both sides would leave the slot to the other.
  barrier_on_all_threads();
  reclaim();
}

void HandleTable::reclaim() {
  std::vector<std::shared_ptr<void>> dead;  // destroyed outside the lock
  std::lock_guard lock(mutex_);
  std::vector<Slot*> still;
  for (Slot* slot : retired_) {
    std::shared_ptr<void> object;
    const Freed freed = try_free(slot, &object);
    if (freed == Freed::yes) dead.push_back(std::move(object));
    if (freed == Freed::in_use) still.push_back(slot);
  }
  retired_ = std::move(still);
  retired_count_.store(retired_.size(), std::memory_order_seq_cst);
}

uint32_t HandleTable::index_of(const Slot* slot) const {
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    const Slot* base = buckets_[bucket].load(std::memory_order_acquire);
    const size_t size = size_t{1} << (kFirstBits + bucket);
    if (base && slot >= base && slot < base + size) {
      return static_cast<uint32_t>(size - (1u << kFirstBits) + static_cast<size_t>(slot - base));
    }
  }
  return kMaxSlots;
}

Status HandleTable::explain(Handle handle, HandleTag wanted) const {
  const std::string_view name = name_of(wanted);
  if (handle == 0) {
    return fail(Code::invalid_handle,
                "the {} handle is 0 (null); pass the value its create call returned", name);
  }
  const uint64_t tag = tag_of(handle);
  if (tag < 2 || tag >= static_cast<uint64_t>(HandleTag::count) || handle >> 63) {
    return fail(Code::invalid_handle,
                "{:#x} is not a handle; expected a {} from its create call (is it an address?)",
                handle, name);
  }
  if (tag != static_cast<uint64_t>(wanted)) {
    return fail(Code::invalid_handle, "{:#x} is a {} handle; expected a {}", handle,
                name_of(static_cast<HandleTag>(tag)), name);
  }
  return fail(Code::invalid_handle,
              "the {} {:#x} was destroyed already or never existed; do not use a handle after its "
              "destroy call",
              name, handle);
}

size_t HandleTable::live(HandleTag tag) const {
  return live_[static_cast<size_t>(tag)].load(std::memory_order_relaxed);
}

std::vector<std::shared_ptr<void>> HandleTable::all_untyped(HandleTag tag) {
  uint32_t used;
  {
    std::lock_guard lock(mutex_);
    used = used_;
  }
  std::vector<std::shared_ptr<void>> list;
  for (uint32_t index = 0; index < used; ++index) {
    Slot* slot = slot_at(index);
    const uint64_t word = slot->word.load(std::memory_order_acquire);
    if (((word >> kTagShift) & 0xff) != static_cast<uint64_t>(tag)) continue;
    const uint64_t generation = (word >> kGenerationShift) & kGenerationMask;
    const Held held = pin(static_cast<uint64_t>(tag) << 55 | generation << 31 | index, tag);
    if (!held) continue;
    list.push_back(held.slot()->object);
    unpin(held);
  }
  return list;
}

}  // namespace anynpu
