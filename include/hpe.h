/* SPDX-License-Identifier: Apache-2.0 */
/* HPE: the host run-time interface of Stream Computing NPUs, for C and C++; link with -lhpert.
 *
 * A device is one NPC cluster: eight NPCs with 4 GiB of memory. Device memory has 32-bit addresses
 * of its cluster, carried in a void*; they mean nothing to the host. Each host thread has a current
 * device (0 until stcSetDevice), and calls without a stream or module act on it. Every function
 * returns stcSuccess or an error code; the thread's last error is kept for stcGetLastError. */
#ifndef HPE_H_
#define HPE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define STC_DEFAULT(value) = value
extern "C" {
#else
#define STC_DEFAULT(value)
#endif
#define STC_API __attribute__((visibility("default")))

/* -- errors ---------------------------------------------------------------------------------- */

typedef enum stcError {
  stcSuccess = 0,
  stcErrorInvalidValue = 1,
  stcErrorInvalidDevice = 2,
  stcErrorHostMemoryAllocation = 3,
  stcErrorDeviceMemoryAllocation = 4,
  stcErrorInvalidDevicePointer = 5,
  stcErrorLinkFailure = 6,
  stcErrorInvalidKernel = 7,
  stcErrorInvalidImage = 8,
  stcErrorNoImage = 9,
  stcErrorInvalidModule = 10,
  stcErrorNoModule = 11,
  stcErrorInvalidStream = 12,
  stcErrorInvalidEvent = 13,
  stcErrorInvalidFifo = 14,
  stcErrorDeviceImageException = 15,
  stcErrorSyscallFailure = 16,
  stcErrorForkForbidden = 17,
  stcErrorInvalidCoreNum = 18,
  stcErrorGDBFailure = 19,
  stcErrorDriverMismatch = 20,
  stcErrorDeviceBreakdown = 21,
  stcErrorNoFreeNpu = 22,
  stcErrorNpuNotAcquired = 23,
  stcErrorInvalidNpuTask = 24,
  stcErrorInvalidImageDataSection = 25,
  stcErrorNpuTaskRunning = 26,
  stcErrorOutOfHostMemory = 27,
  stcErrorTooManyOpenStreams = 28,
  stcErrorTooManyOpenEvents = 29,
  stcErrorDriverFailure = 99
} stcError_t;

/* The calling thread's last error, which becomes stcSuccess then. */
STC_API stcError_t stcGetLastError(void);
/* "stcErrorInvalidValue"; "unknown error" for numbers that are no error code. Never null. */
STC_API const char* stcGetErrorName(stcError_t error);
STC_API const char* stcGetErrorString(stcError_t error);

/* -- devices --------------------------------------------------------------------------------- */

typedef enum stcDeviceAttr {
  stcDevAttrChipHWVersion = 0,
  stcDevAttrBoardHWVersion = 1,
  stcDevAttrClusterCount = 2,
  stcDevAttrNPCPerCluster = 3,
  stcDevAttrSharedmemPerCluster = 4, /* KiB */
  stcDevAttrGlobalmemPerCluster = 5, /* MiB */
  stcDevAttrConcurrentKernels = 6,
  stcDevAttrPciBusId = 7,
  stcDevAttrPciDeviceId = 8,
  stcDevAttrFirmwareVersion = 9,
  stcDevAttrDriverVersion = 10,
  stcDevAttrCount = 11
} stcDeviceAttr;

/* The environment variable STC_SET_DEVICES chooses and orders devices: "2,0" makes cluster 2 device
 * 0 and cluster 0 device 1; a single "n" makes cluster n + i device i. */
STC_API stcError_t stcSetDevice(int device);
STC_API stcError_t stcGetDevice(int* device);
STC_API stcError_t stcGetDeviceCount(int* count);
STC_API stcError_t stcGetDeviceName(const char** name, int device);
STC_API stcError_t stcGetDeviceAttribute(int* value, stcDeviceAttr attr, int device);
/* Waits for everything that was submitted to the current device. When a kernel ended in an
 * exception, prints its call stack on stderr and returns stcErrorDeviceImageException. */
STC_API stcError_t stcDeviceSynchronize(void);

/* -- streams and events ---------------------------------------------------------------------- */

typedef struct stcStream* stcStream_t; /* 0 is the device's default stream */
typedef struct stcEvent* stcEvent_t;

STC_API stcError_t stcStreamCreate(stcStream_t* stream);
/* Finishes what is queued, then ends the stream. */
STC_API stcError_t stcStreamDestroy(stcStream_t stream);
STC_API stcError_t stcStreamSynchronize(stcStream_t stream);
/* Drops the requests that have not started; the stream stays. */
STC_API stcError_t stcStreamClean(stcStream_t stream);
/* Requests submitted to the stream from now on wait for the event's last record. */
STC_API stcError_t stcStreamWaitEvent(stcStream_t stream, stcEvent_t event);
/* A unified stream takes requests for every device, and runs them strictly in order. It is used
 * like any other; stcStreamDestroy ends it. */
STC_API stcError_t stcStreamCreateUnified(stcStream_t* stream);
STC_API stcError_t stcStreamSynchronizeUnified(stcStream_t stream);

STC_API stcError_t stcEventCreate(stcEvent_t* event);
STC_API stcError_t stcEventDestroy(stcEvent_t event);
STC_API stcError_t stcEventSynchronize(stcEvent_t event);
/* Marks the stream's present end; 0 marks that of every stream of the event's device. */
STC_API stcError_t stcEventRecord(stcEvent_t event, stcStream_t stream STC_DEFAULT(nullptr));
/* Milliseconds of host time between the marks of two events. */
STC_API stcError_t stcEventElapsedTime(float* ms, stcEvent_t start, stcEvent_t end);

/* -- memory ---------------------------------------------------------------------------------- */

typedef enum stcMemcpyKind {
  stcMemcpyHostToHost = 0,
  stcMemcpyHostToDevice = 1,
  stcMemcpyDeviceToHost = 2,
  stcMemcpyP2P = 4 /* within a device; between devices: stcMemcpyPeer */
} stcMemcpyKind;

/* Memory of the current device between 0 and 3 GiB, which NPCs reach directly. */
STC_API stcError_t stcMalloc(void** pointer, size_t size);
/* High memory, which only copies reach. */
STC_API stcError_t stcMallocHigh(void** pointer, size_t size);
/* Frees memory of the current device. Work that is queued still finds it. */
STC_API stcError_t stcFree(void* pointer);
/* Host memory in pages that stay in place, where the system lets the process lock pages. */
STC_API stcError_t stcMallocHost(void** pointer, size_t size);
STC_API stcError_t stcFreeHost(void* pointer);
STC_API stcError_t stcHostRegister(void* pointer, size_t size);
STC_API stcError_t stcHostUnregister(void* pointer);

/* Ordered behind what is queued in the default stream; returns when the bytes are there. */
STC_API stcError_t stcMemcpy(void* dst, const void* src, size_t count, stcMemcpyKind kind);
STC_API stcError_t stcMemcpyAsync(void* dst, const void* src, size_t count, stcMemcpyKind kind,
                                  stcStream_t stream STC_DEFAULT(nullptr));
STC_API stcError_t stcMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice,
                                 size_t count);
STC_API stcError_t stcMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice,
                                      size_t count, stcStream_t stream STC_DEFAULT(nullptr));

/* -- modules and kernels --------------------------------------------------------------------- */

typedef struct stcModule* stcModule_t;

typedef enum stcKernelFlag {
  stcKernelFlagNone = 0,
  stcKernelFlagInputDataBypassDcache = 1,
  stcKernelFlagOutputDataBypassDache = 2,
  stcKernelFlagIODataBypassDache = 3
} stcKernelFlag;

/* One word for each parameter of the kernel: integers and device addresses as they are, a float by
 * its bits, a __fp16 in the low half. */
typedef struct stcKernelParams {
  const uint32_t* values; /* may be null when count is 0 */
  size_t count;
} stcKernelParams_t;

/* Links a device image (the ELF object that stc-ld.lld -r wrote) for the current device. */
STC_API stcError_t stcModuleLoadData(stcModule_t* module, const void* image, size_t size);
/* Fails with stcErrorNpuTaskRunning while a kernel of the module is queued or running. */
STC_API stcError_t stcModuleUnload(stcModule_t module);
/* The image that stcLaunchKernel uses without a module; one per process. The image has to
 * stay in place until it is unregistered. */
STC_API stcError_t stcRegisterFatBinary(const void* image);
STC_API stcError_t stcUnregisterFatBinary(void);
/* Sets NPCs (1 to 8), stream and flags of this thread's next stcLaunchKernel. */
STC_API stcError_t stcConfigureCall(int coreNum, stcStream_t stream STC_DEFAULT(nullptr),
                                    unsigned flags STC_DEFAULT(0));
/* Queues a kernel and returns; a null module means the registered image. Without a call of
 * stcConfigureCall: eight NPCs, the default stream, no flags. */
STC_API stcError_t stcLaunchKernel(stcModule_t* module, const char* name, stcKernelParams_t params);

/* What the value of a parameter was before it became a word. */
typedef enum stcParamKind {
  stcParamPlain = 0, /* not checked */
  stcParamInteger = 1,
  stcParamFloat = 2,
  stcParamHalf = 3,
  stcParamPointer = 4
} stcParamKind;
/* stcLaunchKernel that checks an stcParamKind for each value against the kernel's types, where the
 * image has debug information (-g). */
STC_API stcError_t stcLaunchKernelTyped(stcModule_t* module, const char* name,
                                        stcKernelParams_t params, const unsigned char* kinds);

#ifdef __cplusplus
} /* extern "C" */
#endif
#undef STC_DEFAULT

#endif
