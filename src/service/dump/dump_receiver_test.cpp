// SPDX-License-Identifier: Apache-2.0
#include "service/dump/dump_receiver.h"

#include <gtest/gtest.h>

#include <vector>

#include "exec/dump_file.h"
#include "service/finalize.h"

namespace anynpu::service {
namespace {

TEST(DumpReceiver, ADumpComesInChunksInOrder) {
  std::string received;
  std::vector<bool> last;
  ASSERT_TRUE(receive_dumps(
                  [&](const DumpChunk& chunk) {
                    EXPECT_EQ(chunk.offset, received.size());
                    EXPECT_EQ(chunk.path, "/proc/none/dump");
                    received += chunk.bytes;
                    last.push_back(chunk.last);
                    return 0;
                  },
                  100)
                  .ok());
  const std::string bytes((size_t{2} << 20) + 5, 'd');
  EXPECT_TRUE(exec::write_dump("/proc/none", "dump", bytes).ok());
  EXPECT_EQ(received, bytes);
  EXPECT_EQ(last, (std::vector<bool>{false, false, true}));
  EXPECT_TRUE(stop_receiving_dumps().ok());
}

TEST(DumpReceiver, AnAnswerOtherThanZeroAndALongPathEndTheDump) {
  int calls = 0;
  ASSERT_TRUE(receive_dumps([&](const DumpChunk&) { return ++calls; }, 12).ok());
  EXPECT_EQ(exec::write_dump("/folder", "dump", "x").code(), Code::io_error);
  EXPECT_EQ(exec::write_dump("/longer_folder", "dump", "x").code(), Code::io_error);
  EXPECT_EQ(calls, 1);
  run_finalizers();
  EXPECT_FALSE(exec::write_dump("/proc/none", "dump", "x").ok());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace anynpu::service
