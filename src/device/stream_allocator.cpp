// SPDX-License-Identifier: Apache-2.0
#include "device/stream_allocator.h"

#include <map>

#include "device/host_view.h"
#include "device/queue.h"
#include "device/range_map.h"

namespace anynpu::device {

namespace {

constinit TaskKind kCopyStaged = TaskKind::queued("memcpy_async_with_condition", Engine::h2d);

struct Registered {
  std::weak_ptr<Stream> stream;
  StreamAllocator functions;
};
struct Allocators {
  std::mutex mutex;
  std::map<const Stream*, Registered> by_stream;
};
Allocators& allocators() {
  static auto* all = new Allocators;
  return *all;
}

}  // namespace

Status register_allocator(const std::shared_ptr<Stream>& stream, const StreamAllocator& functions) {
  if (!functions.allocate || !functions.release || !functions.address_of) {
    return fail(Code::invalid_argument,
                "the allocator description lacks its {} function; set alloc, free and "
                "get_addr_from_block before the registration",
                !functions.allocate  ? "alloc"
                : !functions.release ? "free"
                                     : "get_addr_from_block");
  }
  auto& all = allocators();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.by_stream, [](const auto& entry) { return entry.second.stream.expired(); });
  all.by_stream[stream.get()] = {stream, functions};
  return {};
}

Status unregister_allocator(const Stream& stream) {
  auto& all = allocators();
  std::lock_guard lock(all.mutex);
  all.by_stream.erase(&stream);
  return {};
}

std::optional<StreamAllocator> allocator_of(const Stream& stream) {
  auto& all = allocators();
  std::lock_guard lock(all.mutex);
  const auto found = all.by_stream.find(&stream);
  if (found == all.by_stream.end() || found->second.stream.expired()) return std::nullopt;
  return found->second.functions;
}

Result<std::shared_ptr<Workspace>> Workspace::take(Stream& stream, size_t bytes) {
  auto space = std::shared_ptr<Workspace>(new Workspace);
  if (auto allocator = allocator_of(stream)) {
    space->block_ = allocator->allocate(allocator->object, bytes);
    if (!space->block_) {
      return fail(Code::out_of_memory, "the allocator of stream {} gave no block of {} bytes",
                  stream.id(), bytes);
    }
    space->allocator_ = allocator;  // from here on the block is given back
    space->address_ = static_cast<uint8_t*>(allocator->address_of(space->block_));
    ANYNPU_TRY(check_range(space->address_, bytes, Access::write, "the allocator's block").status(),
               "for a workspace of stream {}", stream.id());
    return space;
  }
  space->on_device_ = stream.device() != nullptr;
  auto memory =
      space->on_device_ ? allocate_device(*stream.device(), bytes, {}) : allocate_host(bytes);
  if (!memory.ok()) return memory.status();
  space->address_ = static_cast<uint8_t*>(*memory);
  return space;
}

Workspace::~Workspace() {
  if (allocator_) {
    allocator_->release(allocator_->object, block_);
  } else if (address_) {
    (void)(on_device_ ? free_device(address_) : free_host(address_));
  }
}

Status copy_async_staged(const Copy& request, Stream& stream) {
  if (request.bytes == 0 || request.bytes > request.to_bytes ||
      request.kind == CopyKind::host_to_host) {
    return copy_async(request, stream);  // says what is wrong
  }
  ANYNPU_ASSIGN(Range from, check_range(request.from, request.bytes, Access::read, "src"));
  ANYNPU_ASSIGN(Range to, check_range(request.to, request.bytes, Access::write, "dst"));
  if (from.owner) return copy_async(request, stream);  // memory of ours is pinned already
  ANYNPU_ASSIGN(auto stage, Workspace::take(stream, request.bytes));
  ANYNPU_TRY(copy_bytes(stage->address(), from.address, request.bytes));
  Queue& queue = stream.queue();
  return stream.submit(
      {kCopyStaged, request.bytes}, [stage = std::move(stage), to = std::move(to), &queue] {
        if (!to.owner) ANYNPU_TRY(check_range(to.address, to.bytes, Access::write, "dst").status());
        return queue.copy({to.address, stage->address(), to.bytes});
      });
}

}  // namespace anynpu::device
