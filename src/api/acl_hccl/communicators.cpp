// SPDX-License-Identifier: Apache-2.0
// HcclComm*, HcclGet*: communicators.
#include "service/collective/communicators.h"

#include <cstddef>
#include <cstring>

#include "api/acl_hccl/entry.h"
#include "base/guarded_touch.h"
#include "hccl/hccl.h"
#include "service/collective/settings.h"

namespace anynpu::hccl {

namespace {

using namespace service;

static_assert(sizeof(HcclRootInfo) == collective::kRootInfoBytes);

// The contents of the reserved bytes of HcclCommConfig.
struct ConfigInfo {
  size_t size;
  uint32_t magic;
  uint32_t version;
  uint64_t reserved;
};
static_assert(sizeof(ConfigInfo) == HCCL_COMM_CONFIG_INFO_BYTES);
// As published programs pass it.
static_assert(offsetof(HcclCommConfig, hcclCommName) == 32);
static_assert(offsetof(HcclCommConfig, hcclJobID) == 304);
static_assert(offsetof(HcclCommConfig, hcclExecTimeOut) == 316);
static_assert(sizeof(HcclCommConfig) == 2240);

// Reads what the caller's version of the structure has.
Result<CommunicatorOptions> options_of(const HcclCommConfig* config) {
  ConfigInfo info;
  if (!config || !can_read(config, sizeof info)) {
    return fail(Code::invalid_argument, "config is {}; expected a configuration",
                static_cast<const void*>(config));
  }
  std::memcpy(&info, config->reserved, sizeof info);
  if (info.magic != HCCL_COMM_CONFIG_MAGIC_WORD || info.size < sizeof info ||
      !can_read(config, info.size)) {
    return fail(Code::invalid_argument,
                "config says that it has {} bytes and the mark {:#x}; call HcclCommConfigInit "
                "before setting fields",
                info.size, info.magic);
  }
  CommunicatorOptions options;
  const auto has = [&](size_t end) { return info.size >= end; };
  if (has(offsetof(HcclCommConfig, hcclDeterministic)) &&
      config->hcclBufferSize != HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET) {
    if (config->hcclBufferSize == 0) {
      return fail(Code::invalid_argument, "hcclBufferSize is 0; expected at least 1 (MiB)");
    }
    options.buffer_bytes = uint64_t{config->hcclBufferSize} << 20;
  }
  if (has(offsetof(HcclCommConfig, hcclUdi))) {
    options.name.assign(config->hcclCommName,
                        strnlen(config->hcclCommName, sizeof config->hcclCommName));
  }
  if (has(offsetof(HcclCommConfig, hcclAlgo)) && config->hcclExecTimeOut >= 0) {
    options.exec_seconds = config->hcclExecTimeOut;
  }
  return options;
}

// Writes the handle that `make` returns to `comm`.
template <typename Make>
HcclResult make_communicator(const char* function, HcclComm* comm, Make&& make) {
  return enter(function, [&]() -> Status {
    ANYNPU_TRY(check_pointer(comm, "comm"));
    ANYNPU_ASSIGN(const Handle handle, make());
    *comm = from_handle<HcclComm>(handle);
    return {};
  });
}

// The same with a configuration.
template <typename Make>
HcclResult make_with_config(const char* function, const HcclCommConfig* config, HcclComm* comm,
                            Make&& make) {
  return make_communicator(function, comm, [&]() -> Result<Handle> {
    ANYNPU_ASSIGN(const auto options, options_of(config));
    return make(options);
  });
}

Status rank_numbers(HcclComm comm, uint32_t* rank, uint32_t* size) {
  ANYNPU_ASSIGN(const auto group, find_communicator(to_handle(comm)));
  if (rank) *rank = group->rank();
  if (size) *size = group->size();
  return {};
}

Result<std::span<const uint32_t>> rank_list(const uint32_t* ranks, uint32_t count) {
  if (count == 0) return std::span<const uint32_t>();
  if (ranks && can_read(ranks, size_t{count} * sizeof *ranks)) return std::span(ranks, count);
  return fail(Code::invalid_argument, "rankIds is {}; expected {} ranks",
              static_cast<const void*>(ranks), count);
}

}  // namespace

}  // namespace anynpu::hccl

using namespace anynpu;
using namespace anynpu::hccl;

extern "C" {

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return enter(__func__, [&] { return service::get_root_info(rootInfo); });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
  return make_communicator(__func__, comm,
                           [&] { return service::init_by_root(nRanks, rootInfo, rank, {}); });
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
  return make_with_config(__func__, config, comm, [&](const auto& options) {
    return service::init_by_root(nRanks, rootInfo, rank, options);
  });
}

HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm) {
  return make_communicator(__func__, comm,
                           [&] { return service::init_by_table(clusterInfo, rank, {}); });
}

HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank,
                                         HcclCommConfig* config, HcclComm* comm) {
  return make_with_config(__func__, config, comm, [&](const auto& options) {
    return service::init_by_table(clusterInfo, rank, options);
  });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(devices, "devices"));
    ANYNPU_TRY(check_pointer(comms, "comms"));
    ANYNPU_TRY(collective::check_rank_numbers(0, ndev));
    std::vector<Handle> made(ndev);
    ANYNPU_TRY(service::init_all(std::span(devices, ndev), made.data()));
    for (uint32_t i = 0; i < ndev; ++i) comms[i] = from_handle<HcclComm>(made[i]);
    return {};
  });
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds,
                                   uint64_t subCommId, uint32_t subCommRankId,
                                   HcclCommConfig* config, HcclComm* subComm) {
  return make_with_config(__func__, config, subComm, [&](const auto& options) -> Result<Handle> {
    ANYNPU_TRY(check_pointer(comm, "comm"));
    ANYNPU_ASSIGN(const auto ranks, rank_list(rankIds, rankNum));
    return service::init_sub(to_handle(*comm), ranks, subCommId, subCommRankId, options);
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return enter(__func__, [&] { return service::destroy_communicator(to_handle(comm)); });
}

HcclResult HcclCommResume(HcclComm comm) {
  return enter(__func__, [&] { return service::resume_communicator(to_handle(comm)); });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(rankSize, "rankSize"));
    return rank_numbers(comm, nullptr, rankSize);
  });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(rank, "rank"));
    return rank_numbers(comm, rank, nullptr);
  });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return enter(__func__, [&] { return service::communicator_name(to_handle(comm), commName); });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(asyncError, "asyncError"));
    Status failure;
    ANYNPU_TRY(service::communicator_failure(to_handle(comm), &failure));
    *asyncError = to_hccl_result(failure.code());
    return {};
  });
}

const char* HcclGetErrorString(HcclResult code) { return result_name(code); }

uint32_t HcclGetCommConfigCapability(void) { return HCCL_COMM_CONFIG_RESERVED; }

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  return enter(__func__,
               [&] { return service::set_collective_setting(config, configValue.value); });
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(configValue, "configValue"));
    ANYNPU_ASSIGN(configValue->value, service::collective_setting(config));
    return {};
  });
}

}  // extern "C"
