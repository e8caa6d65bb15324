// SPDX-License-Identifier: Apache-2.0
// Handles: what programs hold instead of pointers to our objects. A handle is a positive 63-bit
// number (type tag, generation, index) that is never a mappable address. The table checks type and
// generation in O(1), so null, stale and wrong-type handles are distinguished, never dereferenced.
//
// All calls are thread-safe. Lookup writes the slot into a cell of the calling thread (a hazard
// pointer, pin_cells.h): the object stays alive until the pin is released, even if another thread
// removes the handle meanwhile. A thread that holds more pins than it has cells uses a reference
// count in the slot instead.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pin_cells.h"
#include "base/result.h"

namespace anynpu {

using Handle = uint64_t;  // 0 is null

// Tags start at 2, so that no handle is a canonical user-space address.
#define ANYNPU_HANDLE_TAGS(X)                   \
  X(context, "context")                         \
  X(stream, "stream")                           \
  X(event, "event")                             \
  X(notify, "notify")                           \
  X(tensor_desc, "tensor description")          \
  X(data_buffer, "data buffer")                 \
  X(dataset, "dataset")                         \
  X(model_desc, "model description")            \
  X(model_config, "model load configuration")   \
  X(exec_config, "execution configuration")     \
  X(aipp, "AIPP parameter set")                 \
  X(allocator_desc, "allocator description")    \
  X(physical_memory, "physical memory")         \
  X(group_info, "group information")            \
  X(stream_config, "stream configuration")      \
  X(loaded_binary, "loaded kernel binary")      \
  X(op_attr, "operator attributes")             \
  X(op_handle, "operator handle")               \
  X(binary, "kernel binary")                    \
  X(function, "kernel function")                \
  X(kernel_args, "kernel arguments")            \
  X(exception_info, "exception information")    \
  X(prof_config, "profiling configuration")     \
  X(prof_stamp, "profiling stamp")              \
  X(prof_step, "profiling step")                \
  X(prof_subscription, "subscription settings") \
  X(media_channel, "media channel")             \
  X(picture_desc, "picture description")        \
  X(picture_batch, "batch of pictures")         \
  X(packet_desc, "video stream description")    \
  X(region, "region configuration")             \
  X(resize_config, "resize configuration")      \
  X(jpeg_config, "JPEG configuration")          \
  X(border_config, "border configuration")      \
  X(lookup_table, "lookup table")               \
  X(histogram, "histogram")                     \
  X(video_decoder, "video decoder channel")     \
  X(video_encoder, "video encoder channel")     \
  X(decode_config, "decoder frame setting")     \
  X(encode_config, "encoder frame setting")     \
  X(kernel_param, "kernel parameter")           \
  X(kernel_desc, "kernel description")          \
  X(model, "model")                             \
  X(npc_stream, "NPC stream")                   \
  X(npc_event, "NPC event")                     \
  X(npc_module, "NPC module")                   \
  X(fv_init, "retrieval settings")              \
  X(fv_features, "feature description")         \
  X(fv_range, "range of repositories")          \
  X(fv_table, "query table")                    \
  X(fv_input, "search input")                   \
  X(fv_result, "search result")                 \
  X(graph_dump_option, "graph dump option")     \
  X(model_instance, "model instance")           \
  X(instance_task, "task of an instance")       \
  X(task_group, "task group")                   \
  X(label, "label")                             \
  X(label_list, "list of labels")               \
  X(condition, "condition of a capture")        \
  X(counting_notify, "counting notify")         \
  X(memory_pool, "memory pool")                 \
  X(channel_item, "channel item")               \
  X(channel_dataset, "channel dataset")         \
  X(data_channel, "data channel")               \
  X(queue_route, "queue route")                 \
  X(queue_route_list, "list of queue routes")   \
  X(queue_route_query, "queue route query")     \
  X(communicator, "communicator")               \
  X(nn_tensor, "aclTensor")                     \
  X(nn_scalar, "aclScalar")                     \
  X(nn_ints, "aclIntArray")                     \
  X(nn_floats, "aclFloatArray")                 \
  X(nn_bools, "aclBoolArray")                   \
  X(nn_tensors, "aclTensorList")                \
  X(nn_scalars, "aclScalarList")                \
  X(nn_executor, "aclOpExecutor")

enum class HandleTag : uint8_t {
  none = 0,
  removed = 1,
#define X(name, text) name,
  ANYNPU_HANDLE_TAGS(X)
#undef X
      count
};

std::string_view name_of(HandleTag tag);

// Specialised once per object type: `template <> struct HandleType<Stream> { tag = stream; }`.
template <typename T>
struct HandleType;

// Assigns a tag to T; use at namespace anynpu scope.
#define ANYNPU_HANDLE_TYPE(T, tag_name)                   \
  template <>                                             \
  struct HandleType<T> {                                  \
    static constexpr HandleTag tag = HandleTag::tag_name; \
  }

class HandleTable {
 public:
  struct Slot;
  // A pinned slot: the address of the cell that pins it or, with the lowest bit set, of the slot
  // that counts it. One word, so that it is returned in a register.
  class Held {
   public:
    Held() = default;
    static Held in_cell(PinCell* cell) { return Held(reinterpret_cast<uintptr_t>(cell)); }
    static Held counted(Slot* slot) { return Held(reinterpret_cast<uintptr_t>(slot) | 1); }
    explicit operator bool() const { return word_ != 0; }
    PinCell* cell() const { return word_ & 1 ? nullptr : reinterpret_cast<PinCell*>(word_); }
    Slot* slot() const {
      if (word_ & 1) [[unlikely]]
        return reinterpret_cast<Slot*>(word_ - 1);
      const void* slot = cell()->load(std::memory_order_relaxed);
      return static_cast<Slot*>(const_cast<void*>(slot));
    }

   private:
    explicit Held(uintptr_t word) : word_(word) {}
    uintptr_t word_ = 0;
  };

  static HandleTable& instance();

  // Null handle when 2^31 slots are in use. Keeps one reference to `object`.
  template <typename T>
  Handle insert(std::shared_ptr<T> object) {
    return insert_untyped(HandleType<T>::tag, std::move(object));
  }

  // A pinned object; empty when the handle is not a live T. Cheap to move, not to copy.
  template <typename T>
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept : held_(std::exchange(other.held_, Held())) {}
    Pin& operator=(Pin&& other) noexcept {
      std::swap(held_, other.held_);
      return *this;
    }
    ~Pin() {
      if (held_) HandleTable::unpin(held_);
    }
    explicit operator bool() const { return static_cast<bool>(held_); }
    T* get() const { return static_cast<T*>(held_.slot()->object.get()); }
    T* operator->() const { return get(); }
    T& operator*() const { return *get(); }
    // A reference that outlives the pin, for work that is queued.
    std::shared_ptr<T> share() const { return std::static_pointer_cast<T>(held_.slot()->object); }

   private:
    friend class HandleTable;
    explicit Pin(Held held) : held_(held) {}
    Held held_;
  };

  template <typename T>
  Pin<T> find(Handle handle) {
    return Pin<T>(pin(handle, HandleType<T>::tag));
  }

  // find() with a message that says what is wrong with `handle`.
  template <typename T>
  Result<Pin<T>> resolve(Handle handle) {
    if (Pin<T> pin = find<T>(handle)) return pin;
    return explain(handle, HandleType<T>::tag);
  }

  // Ends the handle's life and returns the object; exactly one caller wins. Null otherwise.
  template <typename T>
  std::shared_ptr<T> remove(Handle handle) {
    return std::static_pointer_cast<T>(remove_untyped(handle, HandleType<T>::tag));
  }

  // Explains why `handle` is not a live object of type `wanted`.
  Status explain(Handle handle, HandleTag wanted) const;

  // Live handles of a type.
  size_t live(HandleTag tag) const;

  // All live objects of a type at this moment; for synchronize-all and for the leak report.
  template <typename T>
  std::vector<std::shared_ptr<T>> all() {
    std::vector<std::shared_ptr<T>> list;
    for (auto& object : all_untyped(HandleType<T>::tag)) {
      list.push_back(std::static_pointer_cast<T>(std::move(object)));
    }
    return list;
  }

  struct Slot {
    // generation (24 bits) | tag (8) | counted pins (32)
    std::atomic<uint64_t> word{0};
    std::shared_ptr<void> object;
  };

 private:
  HandleTable() = default;

  static constexpr int kFirstBits = 8;  // the first bucket has 256 slots, each next one doubles
  static constexpr int kBuckets = 31 - kFirstBits;

  static void unpin(Held held) {
    PinCell* cell = held.cell();
    if (!cell) [[unlikely]]
      return unpin_counted(held.slot());
    cell->store(nullptr, std::memory_order_release);
    if (retired_count_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      instance().reclaim();
  }

  Slot* slot_at(uint32_t index) const {
    const uint32_t shifted = index + (1u << kFirstBits);
    const int top = 31 - __builtin_clz(shifted);
    const int bucket = top - kFirstBits;
    if (bucket >= kBuckets) return nullptr;
    Slot* base = buckets_[bucket].load(std::memory_order_acquire);
    return base ? base + (shifted - (1u << top)) : nullptr;
  }

  // In the header, because it is the first thing that every API call does.
  Held pin(Handle handle, HandleTag tag) {
    Slot* slot = slot_of(handle, tag);
    if (!slot) return {};
    PinCell* cell = pin_in_cell(slot);
    if (!cell) [[unlikely]] {
      return pin_counted(slot, life_of(handle, tag)) ? Held::counted(slot) : Held();
    }
    const Held held = Held::in_cell(cell);
    if ((slot->word.load(std::memory_order_seq_cst) >> 32) == life_of(handle, tag)) return held;
    unpin(held);
    return {};
  }
  Slot* slot_of(Handle handle, HandleTag tag) const {
    if ((handle >> 55) != static_cast<uint64_t>(tag)) return nullptr;
    return slot_at(static_cast<uint32_t>(handle & 0x7fff'ffff));
  }
  // The upper half of the slot's word as long as `handle` is valid.
  static uint64_t life_of(Handle handle, HandleTag tag) {
    return ((handle >> 31) & 0xff'ffff) << 8 | static_cast<uint64_t>(tag);
  }

  Slot* pin_counted(Slot* slot, uint64_t life);
  static void unpin_counted(Slot* slot);
  // Frees the slot of a removed handle without counted pins, now or when the last cell releases it.
  void release(Slot* slot);
  enum class Freed { yes, in_use, not_mine };
  Freed try_free(Slot* slot, std::shared_ptr<void>* object);
  void reclaim();
  Handle insert_untyped(HandleTag tag, std::shared_ptr<void> object);
  std::shared_ptr<void> remove_untyped(Handle handle, HandleTag tag);
  std::vector<std::shared_ptr<void>> all_untyped(HandleTag tag);
  uint32_t index_of(const Slot* slot) const;
  bool grow();

  std::array<std::atomic<Slot*>, kBuckets> buckets_{};
  std::array<std::atomic<size_t>, static_cast<size_t>(HandleTag::count)> live_{};
  mutable std::mutex mutex_;  // guards what follows
  std::vector<uint32_t> free_;
  std::vector<Slot*> retired_;  // removed, but still in some cell
  uint32_t used_ = 0;
  static std::atomic<size_t> retired_count_;  // of retired_; read without the lock
};

// Shorthand for the front doors.
template <typename T>
Result<HandleTable::Pin<T>> resolve(Handle handle) {
  return HandleTable::instance().resolve<T>(handle);
}

}  // namespace anynpu
