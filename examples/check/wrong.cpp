// SPDX-License-Identifier: Apache-2.0
// Wrong on purpose, in C++: what `anynpu check` finds. Comments name the finding of their line.
//
//   g++ -g wrong.cpp -I$ASCEND_TOOLKIT_HOME/include -L$ASCEND_TOOLKIT_HOME/lib64 -lascendcl -o
//   wrong anynpu check ./wrong
#include <acl/acl.h>

#include <cstdint>

namespace {

constexpr size_t kSize = 8192;

void leaks() {
  void* memory = nullptr;
  aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST);  // found: leak-device-memory
  aclCreateDataBuffer(memory, 100);                      // found: leak-data-buffer
}

uint8_t too_early(void* memory, uint8_t* host, aclrtStream stream) {
  aclrtMemcpyAsync(host, kSize, memory, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream);
  const uint8_t early = host[kSize / 2];  // found: read-before-synchronize
  aclrtSynchronizeStream(stream);
  return static_cast<uint8_t>(early + host[kSize / 2]);
}

void after_the_end() {
  aclmdlDataset* dataset = aclmdlCreateDataset();
  aclmdlDestroyDataset(dataset);
  aclmdlGetDatasetNumBuffers(dataset);  // found: use-after-destroy
}

}  // namespace

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  void *memory = nullptr, *host = nullptr;
  aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMallocHost(&host, kSize);
  aclrtMemset(memory, kSize, 7, kSize);
  leaks();
  after_the_end();
  const uint8_t sum = too_early(memory, static_cast<uint8_t*>(host), stream);
  aclrtFreeHost(host);
  aclrtFree(memory);
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  aclFinalize();
  return sum >= 7 ? 0 : 1;
}
