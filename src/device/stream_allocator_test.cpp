// SPDX-License-Identifier: Apache-2.0
#include "device/stream_allocator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace anynpu::device {
namespace {

struct Counting {
  int taken = 0;
  int given = 0;
  bool empty = false;
};
StreamAllocator counting(Counting& count) {
  StreamAllocator functions;
  functions.object = &count;
  functions.allocate = [](void* object, size_t bytes) -> void* {
    auto& count = *static_cast<Counting*>(object);
    if (count.empty) return nullptr;
    ++count.taken;
    return std::malloc(bytes);
  };
  functions.release = [](void* object, void* block) {
    ++static_cast<Counting*>(object)->given;
    std::free(block);
  };
  functions.address_of = [](void* block) { return block; };
  return functions;
}
std::shared_ptr<Stream> allocating_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

TEST(StreamAllocator, WorkOfTheStreamTakesItsMemoryFromTheRegisteredFunctions) {
  Counting count;
  auto stream = allocating_stream();
  ASSERT_TRUE(register_allocator(stream, counting(count)).ok());
  std::vector<uint8_t> from(100, 4);
  std::vector<uint8_t> to(100);
  const Copy copy{to.data(), 100, from.data(), 100, CopyKind::host_to_device};
  ASSERT_TRUE(copy_async_staged(copy, *stream).ok());
  std::memset(from.data(), 9, 100);  // taken over already
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(to[99], 4);
  EXPECT_EQ(count.taken, 1);
  EXPECT_EQ(count.given, 1);
  ASSERT_TRUE(unregister_allocator(*stream).ok());
  EXPECT_TRUE(unregister_allocator(*stream).ok()) << "none is no failure";
  ASSERT_TRUE(copy_async_staged(copy, *stream).ok());
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(to[99], 9);
  EXPECT_EQ(count.taken, 1);
}

TEST(StreamAllocator, FailuresOfTheFunctionsAreFailuresOfTheCall) {
  Counting count;
  count.empty = true;
  auto stream = allocating_stream();
  ASSERT_TRUE(register_allocator(stream, counting(count)).ok());
  EXPECT_EQ(Workspace::take(*stream, 10).status().code(), Code::out_of_memory);
  count.empty = false;
  auto functions = counting(count);
  functions.address_of = [](void*) -> void* { return nullptr; };
  ASSERT_TRUE(register_allocator(stream, functions).ok());
  EXPECT_EQ(Workspace::take(*stream, 10).status().code(), Code::invalid_address);
  EXPECT_EQ(count.given, count.taken);
}

TEST(StreamAllocator, ADescriptionWithoutItsFunctionsIsRefused) {
  auto stream = allocating_stream();
  AllocatorDesc description;
  EXPECT_EQ(register_allocator(stream, description.functions()).code(), Code::invalid_argument);
  Counting count;
  description.set(&StreamAllocator::allocate, counting(count).allocate);
  const Status status = register_allocator(stream, description.functions());
  EXPECT_NE(status.message().find("free"), std::string::npos);
  EXPECT_FALSE(allocator_of(*stream));
}

}  // namespace
}  // namespace anynpu::device
