// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queue_routes.h"

#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "device/buffer_queue.h"
#include "device/memory.h"
#include "service/finalize.h"
#include "service/queue/queues.h"

namespace anynpu::service {

namespace {

constexpr uint32_t kAllPermissions = 7;  // manage, take out, put in
constexpr size_t kMostRoutes = size_t{1} << 16;

struct Shared {
  std::mutex mutex;                      // of all routes, lists and queries: they are short-lived
  std::map<uint32_t, uint32_t> granted;  // permissions of this process, by queue
};

Shared& shared() {
  static auto* all = [] {
    on_finalize([] {
      const std::lock_guard lock(shared().mutex);
      shared().granted.clear();
    });
    return new Shared;
  }();
  return *all;
}

Status check_length(size_t length) {
  if (length == sizeof(uint32_t)) return {};
  return fail(Code::invalid_argument, "len is {}; expected {} bytes", length, sizeof(uint32_t));
}

// Calls `change` for each route of a list; the failure that comes first.
template <typename Change>
Status for_each_route(Handle list, Change change) {
  const std::lock_guard lock(shared().mutex);
  ANYNPU_ASSIGN(auto pin, resolve<QueueRouteList>(list));
  std::vector<QueueRoute>& routes = pin->routes;
  if (routes.empty()) {
    return fail(Code::invalid_argument, "the list has no routes; add one with acltdtAddQueueRoute");
  }
  Status first;
  for (size_t i = 0; i < routes.size(); ++i) {
    Status status = change(routes[i]);
    if (first.ok()) first = status.with_note(format("route {} of {}", i, routes.size()));
  }
  return first;
}

bool fits(const QueueRouteQuery& query, const device::QueueLink& link) {
  const bool from = query.from == link.from, to = query.to == link.to;
  switch (*query.mode) {
    case RouteQuery::by_source:
      return from;
    case RouteQuery::by_target:
      return to;
    case RouteQuery::by_both:
      return from && to;
    case RouteQuery::broken:
      return link.broken;
  }
  return false;
}

Status check_query(const QueueRouteQuery& query) {
  if (!query.mode) {
    return fail(Code::invalid_argument, "the query has no mode; set it before the query");
  }
  const RouteQuery mode = *query.mode;
  const bool needs_from = mode == RouteQuery::by_source || mode == RouteQuery::by_both;
  const bool needs_to = mode == RouteQuery::by_target || mode == RouteQuery::by_both;
  if ((!needs_from || query.from) && (!needs_to || query.to)) return {};
  return fail(Code::invalid_argument, "the query of mode {} has no {} queue; set it first",
              static_cast<int>(mode), needs_from && !query.from ? "source" : "target");
}

Status set_mode(QueueRouteQuery& query, uint32_t value) {
  const auto mode = static_cast<RouteQuery>(value);
  for (RouteQuery known :
       {RouteQuery::by_source, RouteQuery::by_target, RouteQuery::by_both, RouteQuery::broken}) {
    if (mode != known) continue;
    query.mode = mode;
    return {};
  }
  return fail(Code::invalid_argument, "the mode is {}; expected 0, 1, 2 or 100", value);
}

}  // namespace

Status read_route_param(Handle handle, RouteParam param, size_t length, void* value) {
  const std::lock_guard lock(shared().mutex);
  ANYNPU_ASSIGN(const auto route, resolve<QueueRoute>(handle));
  if (param < RouteParam::from || param > RouteParam::status) {
    return fail(Code::invalid_argument, "the parameter is {}; expected 0 to 2",
                static_cast<int>(param));
  }
  ANYNPU_TRY(check_length(length));
  ANYNPU_TRY(device::check_host_range(value, length, device::Access::write, "param").status());
  const uint32_t words[] = {route->from, route->to, static_cast<uint32_t>(route->status)};
  std::memcpy(value, &words[static_cast<size_t>(param)], length);
  return {};
}

Status add_to_route_list(Handle list, Handle route) {
  const std::lock_guard lock(shared().mutex);
  ANYNPU_ASSIGN(const auto pin, resolve<QueueRouteList>(list));
  std::vector<QueueRoute>& routes = pin->routes;
  ANYNPU_ASSIGN(const auto added, resolve<QueueRoute>(route));
  if (routes.size() >= kMostRoutes) {
    return fail(Code::limit_exceeded, "the list has {} routes, the most there can be", kMostRoutes);
  }
  routes.push_back(*added);
  return {};
}

Status read_route_list(Handle list, size_t index, Handle route) {
  const std::lock_guard lock(shared().mutex);
  ANYNPU_ASSIGN(const auto pin, resolve<QueueRouteList>(list));
  std::vector<QueueRoute>& routes = pin->routes;
  ANYNPU_ASSIGN(const auto filled, resolve<QueueRoute>(route));
  if (index >= routes.size()) {
    return fail(Code::invalid_argument, "index is {}; the list has {} routes", index,
                routes.size());
  }
  *filled = routes[index];
  return {};
}

Result<size_t> route_list_size(Handle list) {
  const std::lock_guard lock(shared().mutex);
  ANYNPU_ASSIGN(const auto pin, resolve<QueueRouteList>(list));
  std::vector<QueueRoute>& routes = pin->routes;
  return routes.size();
}

Status bind_routes(Handle list) {
  return for_each_route(list, [](QueueRoute& route) -> Status {
    Status status = all_queues().link(route.from, route.to);
    route.status = status.ok() ? RouteStatus::bound : RouteStatus::broken;
    if (status.code() == Code::not_found) return status.with_code(Code::unknown_queue);
    return status;
  });
}

Status unbind_routes(Handle list) {
  return for_each_route(list, [](QueueRoute& route) -> Status {
    Status status = all_queues().unlink(route.from, route.to);
    route.status = RouteStatus::unbound;
    return status;
  });
}

Status set_route_query(Handle handle, RouteQueryParam param, size_t length, const void* value) {
  const std::lock_guard lock(shared().mutex);
  ANYNPU_ASSIGN(const auto query, resolve<QueueRouteQuery>(handle));
  ANYNPU_TRY(check_length(length));
  ANYNPU_TRY(device::check_host_range(value, length, device::Access::read, "value").status());
  uint32_t word;
  std::memcpy(&word, value, sizeof word);
  switch (param) {
    case RouteQueryParam::mode:
      return set_mode(*query, word);
    case RouteQueryParam::from:
      query->from = word;
      return {};
    case RouteQueryParam::to:
      query->to = word;
      return {};
  }
  return fail(Code::invalid_argument, "the parameter is {}; expected 0 to 2",
              static_cast<int>(param));
}

Status query_routes(Handle handle, Handle list) {
  const std::lock_guard lock(shared().mutex);
  ANYNPU_ASSIGN(const auto query, resolve<QueueRouteQuery>(handle));
  ANYNPU_ASSIGN(const auto pin, resolve<QueueRouteList>(list));
  std::vector<QueueRoute>& routes = pin->routes;
  ANYNPU_TRY(check_query(*query));
  if (!routes.empty()) {
    return fail(Code::invalid_argument, "the list has {} routes; pass an empty one", routes.size());
  }
  for (const device::QueueLink& link : all_queues().links()) {
    if (!fits(*query, link)) continue;
    routes.push_back({link.from, link.to, link.broken ? RouteStatus::broken : RouteStatus::bound});
  }
  return {};
}

Status grant_queue(uint32_t queue, int32_t process, uint32_t permission, int32_t timeout_ms) {
  ANYNPU_TRY(queue_deadline(timeout_ms).status());
  if (auto length = all_queues().length(queue); !length.ok()) {
    return length.status().with_code(Code::unknown_queue);
  }
  if (permission == 0 || permission > kAllPermissions) {
    return fail(Code::invalid_argument,
                "permission is {}; expected a combination of 1 (manage), 2 (take out), 4 (put in)",
                permission);
  }
  if (process != getpid()) {
    return fail(Code::unsupported_feature,
                "process {} cannot use queue {}: queues lie in the memory of the process that made "
                "them; share memory with aclrtIpcMemGetExportKey instead",
                process, queue);
  }
  const std::lock_guard lock(shared().mutex);
  shared().granted[queue] |= permission;
  return {};
}

Result<uint32_t> attach_queue(uint32_t queue, int32_t timeout_ms) {
  ANYNPU_TRY(queue_deadline(timeout_ms).status());
  if (auto length = all_queues().length(queue); !length.ok()) {
    return length.status().with_code(Code::unknown_queue);
  }
  const std::lock_guard lock(shared().mutex);
  const auto found = shared().granted.find(queue);
  if (found != shared().granted.end()) return found->second;
  return fail(Code::permission_denied,
              "queue {} was not granted to process {}; call acltdtGrantQueue first", queue,
              getpid());
}

}  // namespace anynpu::service
