// SPDX-License-Identifier: Apache-2.0
// Routes between queues as a program names them: a route is a source and a target with a status,
// lists of routes are bound and unbound as one, queries fill a list. What is bound is kept with the
// queues (device/buffer_queue.h). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::service {

enum class RouteStatus : int32_t { unbound = 0, bound = 1, broken = 2 };

// Fields are guarded by a lock of queue_routes.cpp.
struct QueueRoute {
  uint32_t from = 0, to = 0;
  RouteStatus status = RouteStatus::unbound;
};
struct QueueRouteList {
  std::vector<QueueRoute> routes;
};
enum class RouteQuery : int32_t { by_source = 0, by_target = 1, by_both = 2, broken = 100 };
struct QueueRouteQuery {
  std::optional<RouteQuery> mode;
  std::optional<uint32_t> from, to;
};

enum class RouteParam : int32_t { from = 0, to = 1, status = 2 };
// Writes 4 bytes to `value`.
Status read_route_param(Handle route, RouteParam param, size_t length, void* value);

// Copies the route into the list, or item `index` of the list into the route.
Status add_to_route_list(Handle list, Handle route);
Status read_route_list(Handle list, size_t index, Handle route);
Result<size_t> route_list_size(Handle list);

// Binds all routes of the list; the status of each says whether it is bound. Returns the first
// failure after trying all of them.
Status bind_routes(Handle list);
Status unbind_routes(Handle list);

enum class RouteQueryParam : int32_t { mode = 0, from = 1, to = 2 };
Status set_route_query(Handle query, RouteQueryParam param, size_t length, const void* value);
// Fills an empty list with the matching bound routes; no match is not an error.
Status query_routes(Handle query, Handle list);

// Lets a process use a queue, and what this process may do with one. Queues of this process are
// not seen by others: unsupported_feature for another process.
Status grant_queue(uint32_t queue, int32_t process, uint32_t permission, int32_t timeout_ms);
Result<uint32_t> attach_queue(uint32_t queue, int32_t timeout_ms);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::QueueRoute, queue_route);
ANYNPU_HANDLE_TYPE(service::QueueRouteList, queue_route_list);
ANYNPU_HANDLE_TYPE(service::QueueRouteQuery, queue_route_query);
}  // namespace anynpu
