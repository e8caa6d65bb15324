// SPDX-License-Identifier: Apache-2.0
#include "device/process_page.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace anynpu::device {
namespace {

// The page as another process reads it.
ProcessPage* read_page(std::string& bytes) {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  const std::string path =
      (folder ? std::string(folder) + "/anynpu" : "/tmp/anynpu-" + std::to_string(getuid())) + "/" +
      std::to_string(getpid());
  std::ifstream file(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  return bytes.size() == sizeof(ProcessPage) ? reinterpret_cast<ProcessPage*>(bytes.data())
                                             : nullptr;
}

TEST(ProcessPage, AnotherProcessSeesMemoryAndLoad) {
  std::string bytes;
  publish_device(3, 11);
  publish_memory(3, 4096);
  publish_task_begin(3, 1000);
  ProcessPage* page = read_page(bytes);
  ASSERT_NE(page, nullptr);
  EXPECT_STREQ(page->magic, "ANYNPU1");
  EXPECT_EQ(page->process, static_cast<uint32_t>(getpid()));
  EXPECT_GT(page->start_ticks, 0u);
  EXPECT_GT(std::strlen(page->name), 0u);
  const PublishedDevice& device = page->list[3];
  EXPECT_EQ(device.physical_id.load(), 11);
  EXPECT_EQ(device.memory.load(), 4096u);
  // While a task runs: 500 ns after its begin, 500 ns are taken.
  EXPECT_EQ(device.busy.load() + 1500 * static_cast<uint64_t>(device.running.load()), 500u);
  publish_task_end(3, 1700);
  page = read_page(bytes);
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->list[3].running.load(), 0);
  EXPECT_EQ(page->list[3].busy.load(), 700u);
  EXPECT_EQ(page->list[4].physical_id.load(), -1) << "not made";
}

TEST(ProcessPage, DevicesBeyondTheListAreNotTold) {
  publish_device(kPublishedDevices, 0);
  publish_memory(kPublishedDevices, 1);
  publish_task_begin(-1, 1);
  publish_task_end(-1, 2);
}

}  // namespace
}  // namespace anynpu::device
