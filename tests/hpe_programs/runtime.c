/* SPDX-License-Identifier: Apache-2.0 */
/* hpe.h from C: devices, memory, copies, streams, events, errors. */
#include <hpe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(call, wanted)                                                         \
  do {                                                                               \
    const int got_ = (int)(call);                                                    \
    if (got_ != (int)(wanted)) {                                                     \
      printf("line %d: %s = %d, expected %d\n", __LINE__, #call, got_, (int)wanted); \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)
#define OK(call) EXPECT(call, stcSuccess)

static void devices(void) {
  int value = -1;
  const char* name = NULL;
  OK(stcGetDeviceCount(&value));
  EXPECT(value, 4);
  OK(stcGetDevice(&value));
  EXPECT(value, 0);
  OK(stcGetDeviceName(&name, 3));
  EXPECT(strcmp(name, "STCP920"), 0);
  /* chip, board, clusters, NPCs, shared KiB, global MiB, kernels, PCI bus, PCI device, firmware,
   * driver */
  const int wanted[stcDevAttrCount] = {538968322, 0, 4, 8, 0x2000, 0xc00, 1, 0x1, 256, 0, 17039360};
  for (int i = 0; i < stcDevAttrCount; ++i) {
    OK(stcGetDeviceAttribute(&value, (stcDeviceAttr)i, i % 4));
    EXPECT(value, wanted[i]);
  }
  EXPECT(stcGetDeviceAttribute(&value, stcDevAttrPciBusId, 4), stcErrorInvalidDevice);
  EXPECT(stcGetDeviceAttribute(NULL, stcDevAttrPciBusId, 0), stcErrorInvalidValue);
  EXPECT(stcGetDeviceName(&name, -1), stcErrorInvalidDevice);
  EXPECT(stcGetDeviceName(NULL, 0), stcErrorInvalidValue);
  EXPECT(stcGetDeviceCount(NULL), stcErrorInvalidValue);
  EXPECT(stcGetDeviceAttribute(&value, stcDevAttrCount, 0), stcErrorInvalidValue);
  EXPECT(stcSetDevice(4), stcErrorInvalidDevice);
  EXPECT(stcGetDevice(NULL), stcErrorInvalidValue);
}

static void errors(void) {
  EXPECT(stcSetDevice(-1), stcErrorInvalidDevice);
  OK(stcSetDevice(0)); /* a good call does not hide it */
  EXPECT(stcGetLastError(), stcErrorInvalidDevice);
  EXPECT(stcGetLastError(), stcSuccess);
  EXPECT(strcmp(stcGetErrorName(stcErrorNoImage), "stcErrorNoImage"), 0);
  EXPECT(strcmp(stcGetErrorString(stcErrorNoImage), "no device image"), 0);
  EXPECT(strcmp(stcGetErrorName((stcError_t)1234), "unknown error"), 0);
}

static void memory(void) {
  char source[1000];
  char target[1000] = {0};
  void* low = NULL;
  void* high = NULL;
  void* pinned = NULL;
  memset(source, 5, sizeof source);
  OK(stcMalloc(&low, 1000));
  OK(stcMallocHigh(&high, 1000));
  EXPECT((uintptr_t)low < 0xC0000000u, 1);
  EXPECT((uintptr_t)high >= 0xC0800000u && (uintptr_t)high < 0xF8000000u, 1);
  OK(stcMemcpy(low, source, 1000, stcMemcpyHostToDevice));
  OK(stcMemcpy(high, low, 1000, stcMemcpyP2P));
  OK(stcMemcpy(target, high, 1000, stcMemcpyDeviceToHost));
  EXPECT(memcmp(source, target, 1000), 0);
  OK(stcMemcpy(target, source, 1000, stcMemcpyHostToHost));
  EXPECT(stcMemcpy(low, source, 1001, stcMemcpyHostToDevice), stcErrorInvalidValue);
  EXPECT(stcMemcpy(low, NULL, 8, stcMemcpyHostToDevice), stcErrorInvalidValue);
  EXPECT(stcMemcpy(source, target, 8, stcMemcpyHostToDevice), stcErrorInvalidDevicePointer);
  EXPECT(stcMemcpy(low, source, 8, (stcMemcpyKind)3), stcErrorInvalidValue);
  EXPECT(stcMalloc(NULL, 8), stcErrorInvalidValue);
  EXPECT(stcMalloc(&pinned, 0), stcErrorInvalidValue);
  EXPECT(stcMalloc(&pinned, (size_t)1 << 33), stcErrorDeviceMemoryAllocation);
  OK(stcMallocHost(&pinned, 4096));
  memset(pinned, 1, 4096);
  OK(stcFreeHost(pinned));
  EXPECT(stcFreeHost(pinned), stcErrorInvalidValue);
  OK(stcHostRegister(source, sizeof source));
  EXPECT(stcHostRegister(source, sizeof source), stcErrorInvalidValue);
  OK(stcHostUnregister(source));
  EXPECT(stcHostUnregister(source), stcErrorInvalidValue);
  OK(stcFree(high));
  OK(stcFree(low));
  EXPECT(stcFree(low), stcErrorInvalidDevicePointer);
  EXPECT(stcMemcpy(low, source, 8, stcMemcpyHostToDevice), stcErrorInvalidDevicePointer);
}

static void peers(void) {
  int there[256];
  int back[256] = {0};
  void* a = NULL;
  void* b = NULL;
  stcStream_t stream = NULL;
  for (int i = 0; i < 256; ++i) there[i] = i * i;
  OK(stcSetDevice(1));
  OK(stcMalloc(&a, sizeof there));
  OK(stcMemcpy(a, there, sizeof there, stcMemcpyHostToDevice));
  OK(stcSetDevice(2));
  OK(stcMalloc(&b, sizeof there));
  OK(stcMemcpyPeer(b, 2, a, 1, sizeof there));
  OK(stcMemcpy(back, b, sizeof there, stcMemcpyDeviceToHost));
  EXPECT(memcmp(there, back, sizeof there), 0);
  OK(stcStreamCreate(&stream));
  memset(back, 0, sizeof back);
  OK(stcMemcpy(b, back, sizeof back, stcMemcpyHostToDevice));
  OK(stcMemcpyPeerAsync(b, 2, a, 1, sizeof there, stream));
  OK(stcMemcpyAsync(back, b, sizeof there, stcMemcpyDeviceToHost, stream));
  OK(stcStreamSynchronize(stream));
  EXPECT(memcmp(there, back, sizeof there), 0);
  EXPECT(stcMemcpyPeer(b, 7, a, 1, 4), stcErrorInvalidDevice);
  OK(stcStreamDestroy(stream));
  OK(stcFree(b));
  OK(stcSetDevice(1));
  OK(stcFree(a));
  OK(stcSetDevice(0));
}

static void streams(void) {
  stcStream_t stream = NULL;
  stcStream_t unified = NULL;
  stcEvent_t first = NULL;
  stcEvent_t last = NULL;
  float ms = -1;
  char bytes[64] = {1};
  void* memory = NULL;
  void* other = NULL;
  OK(stcStreamCreate(&stream));
  OK(stcEventCreate(&first));
  OK(stcEventCreate(&last));
  EXPECT(stcEventSynchronize(first), stcErrorInvalidEvent);
  EXPECT(stcStreamWaitEvent(stream, first), stcErrorInvalidEvent);
  EXPECT(stcEventElapsedTime(&ms, first, last), stcErrorInvalidEvent);
  OK(stcMalloc(&memory, 64));
  OK(stcEventRecord(first, stream));
  OK(stcMemcpyAsync(memory, bytes, 64, stcMemcpyHostToDevice, stream));
  OK(stcEventRecord(last, 0));
  OK(stcStreamWaitEvent(stream, last));
  OK(stcEventSynchronize(last));
  OK(stcEventElapsedTime(&ms, first, last));
  EXPECT(ms >= 0 && ms < 60000, 1);
  OK(stcStreamClean(stream));
  OK(stcStreamSynchronize(stream));
  EXPECT(stcStreamSynchronizeUnified(stream), stcErrorInvalidStream);
  OK(stcStreamCreateUnified(&unified));
  OK(stcMemcpyAsync(memory, bytes, 64, stcMemcpyHostToDevice, unified));
  OK(stcSetDevice(3));
  EXPECT(stcMemcpyAsync(other, bytes, 64, stcMemcpyHostToDevice, stream), stcErrorInvalidStream);
  OK(stcMalloc(&other, 64));
  OK(stcMemcpyPeerAsync(other, 3, memory, 0, 64, unified));
  OK(stcMemcpyAsync(bytes, other, 64, stcMemcpyDeviceToHost, unified));
  OK(stcStreamSynchronizeUnified(unified));
  EXPECT(bytes[0], 1);
  OK(stcFree(other));
  OK(stcSetDevice(0));
  OK(stcStreamDestroy(unified));
  OK(stcStreamDestroy(stream));
  EXPECT(stcStreamDestroy(stream), stcErrorInvalidStream);
  EXPECT(stcStreamSynchronize(stream), stcErrorInvalidStream);
  EXPECT(stcStreamSynchronize((stcStream_t)first), stcErrorInvalidStream);
  OK(stcEventDestroy(first));
  OK(stcEventDestroy(last));
  EXPECT(stcEventDestroy(last), stcErrorInvalidEvent);
  OK(stcFree(memory));
  OK(stcDeviceSynchronize());
}

int main(void) {
  devices();
  errors();
  memory();
  peers();
  streams();
  puts("all fine");
  return 0;
}
