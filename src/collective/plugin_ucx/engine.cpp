// SPDX-License-Identifier: Apache-2.0
// Messages over UCX: tagged sends that complete when they are matched, so that a rank never sends
// more than the other side takes. One worker per process; calls are serialized.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <ucp/api/ucp.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "collective/network.h"

namespace anynpu::collective {

namespace {

Status failed(const char* what, ucs_status_t status) {
  return fail(Code::io_error, "the network engine cannot {}: {}", what, ucs_status_string(status));
}

struct Worker {
  std::mutex mutex;
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
};

struct UcxEndpoint : Endpoint {
  explicit UcxEndpoint(Worker& owner) : worker(owner) {}
  ~UcxEndpoint() override {
    if (!endpoint) return;
    const std::lock_guard lock(worker.mutex);
    ucp_request_param_t how = {};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void* closing = ucp_ep_close_nbx(endpoint, &how);
    for (int i = 0;
         i < 1000 && UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS;
         ++i) {
      ucp_worker_progress(worker.worker);
    }
    if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
  }
  Status state() override {
    const auto status = static_cast<ucs_status_t>(error.load(std::memory_order_acquire));
    if (status == UCS_OK) return {};
    return fail(Code::task_failed, "the connection ended ({})", ucs_status_string(status));
  }
  Worker& worker;
  ucp_ep_h endpoint = nullptr;
  std::atomic<int> error{UCS_OK};
};

struct UcxMessage : Message {
  UcxMessage(Worker& owner, void* request, std::shared_ptr<Endpoint> to)
      : worker(owner), request(request), endpoint(std::move(to)) {}
  ~UcxMessage() override {
    if (!request) return;
    const std::lock_guard lock(worker.mutex);
    ucp_request_cancel(worker.worker, request);
    for (int i = 0; i < 1000 && ucp_request_check_status(request) == UCS_INPROGRESS; ++i) {
      ucp_worker_progress(worker.worker);
    }
    ucp_request_free(request);
  }
  Result<bool> done() override {
    if (!request) return true;
    const std::lock_guard lock(worker.mutex);
    ucp_worker_progress(worker.worker);
    const ucs_status_t status = ucp_request_check_status(request);
    if (status == UCS_INPROGRESS) return false;
    ucp_request_free(request);
    request = nullptr;
    if (status == UCS_OK) return true;
    return failed("move a message", status);
  }
  Worker& worker;
  void* request;  // null: done
  const std::shared_ptr<Endpoint> endpoint;
};

class UcxEngine : public NetworkEngine {
 public:
  Status open(const char* ip);
  const std::vector<uint8_t>& address() const override { return address_; }
  Result<std::shared_ptr<Endpoint>> connect(std::span<const uint8_t> address) override;
  Result<std::unique_ptr<Message>> send(const std::shared_ptr<Endpoint>& to, uint64_t tag,
                                        std::span<const std::byte> bytes, Until until) override;
  Result<std::unique_ptr<Message>> receive(uint64_t tag, std::span<std::byte> bytes) override;

 private:
  Result<std::unique_ptr<Message>> started(const char* what, void* request,
                                           std::shared_ptr<Endpoint> to);
  Worker worker_;
  std::vector<uint8_t> address_;
};

// The interface that has this address; "" for none.
std::string interface_of(const char* ip) {
  ifaddrs* all = nullptr;
  std::string found;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* at = all; at; at = at->ifa_next) {
    if (!at->ifa_addr) continue;
    char text[INET6_ADDRSTRLEN] = {};
    if (at->ifa_addr->sa_family == AF_INET) {
      inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(at->ifa_addr)->sin_addr, text,
                sizeof text);
    } else if (at->ifa_addr->sa_family == AF_INET6) {
      inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6*>(at->ifa_addr)->sin6_addr, text,
                sizeof text);
    }
    if (std::strcmp(text, ip) == 0) found = at->ifa_name;
  }
  freeifaddrs(all);
  return found;
}

Status UcxEngine::open(const char* ip) {
  const std::string name = interface_of(ip);
  if (name.empty()) {
    return fail(Code::invalid_config,
                "HCCL_IF_IP is '{}', which no interface of this machine has; see `ip addr`", ip);
  }
  ucp_config_t* config = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) return failed("read its settings", status);
  if (!std::getenv("UCX_NET_DEVICES")) ucp_config_modify(config, "NET_DEVICES", name.c_str());
  if (!std::getenv("UCX_TLS")) ucp_config_modify(config, "TLS", "^sm");
  ucp_params_t params = {};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = UCP_FEATURE_TAG;
  params.mt_workers_shared = 1;
  status = ucp_init(&params, config, &worker_.context);
  ucp_config_release(config);
  if (status != UCS_OK) return failed("start", status);
  ucp_worker_params_t made = {};
  made.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  made.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  status = ucp_worker_create(worker_.context, &made, &worker_.worker);
  if (status != UCS_OK) return failed("make a worker", status);
  ucp_address_t* address = nullptr;
  size_t bytes = 0;
  status = ucp_worker_get_address(worker_.worker, &address, &bytes);
  if (status != UCS_OK) return failed("tell its address", status);
  address_.assign(reinterpret_cast<const uint8_t*>(address),
                  reinterpret_cast<const uint8_t*>(address) + bytes);
  ucp_worker_release_address(worker_.worker, address);
  return {};
}

Result<std::shared_ptr<Endpoint>> UcxEngine::connect(std::span<const uint8_t> address) {
  auto made = std::make_shared<UcxEndpoint>(worker_);
  ucp_ep_params_t params = {};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = [](void* of, ucp_ep_h, ucs_status_t status) {
    static_cast<UcxEndpoint*>(of)->error.store(status, std::memory_order_release);
  };
  params.err_handler.arg = made.get();
  const std::lock_guard lock(worker_.mutex);
  const ucs_status_t status = ucp_ep_create(worker_.worker, &params, &made->endpoint);
  if (status != UCS_OK) return failed("connect to another machine", status);
  return std::shared_ptr<Endpoint>(std::move(made));
}

Result<std::unique_ptr<Message>> UcxEngine::started(const char* what, void* request,
                                                    std::shared_ptr<Endpoint> to) {
  if (UCS_PTR_IS_ERR(request)) return failed(what, UCS_PTR_STATUS(request));
  return std::unique_ptr<Message>(std::make_unique<UcxMessage>(worker_, request, std::move(to)));
}

Result<std::unique_ptr<Message>> UcxEngine::send(const std::shared_ptr<Endpoint>& to, uint64_t tag,
                                                 std::span<const std::byte> bytes, Until until) {
  ucp_request_param_t how = {};
  const auto send = until == Until::taken ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx;
  const std::lock_guard lock(worker_.mutex);
  void* request =
      send(static_cast<UcxEndpoint&>(*to).endpoint, bytes.data(), bytes.size(), tag, &how);
  ucp_worker_progress(worker_.worker);
  return started("send a message", request, to);
}

Result<std::unique_ptr<Message>> UcxEngine::receive(uint64_t tag, std::span<std::byte> bytes) {
  ucp_request_param_t how = {};
  const std::lock_guard lock(worker_.mutex);
  void* request =
      ucp_tag_recv_nbx(worker_.worker, bytes.data(), bytes.size(), tag, ~uint64_t{0}, &how);
  return started("receive a message", request, nullptr);
}

}  // namespace

}  // namespace anynpu::collective

extern "C" __attribute__((visibility("default"))) anynpu::Status anynpu_ucx_engine(
    const char* ip, anynpu::collective::NetworkEngine** engine) {
  auto opened = std::make_unique<anynpu::collective::UcxEngine>();
  ANYNPU_TRY(opened->open(ip));
  *engine = opened.release();
  return {};
}
