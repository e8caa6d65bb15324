// SPDX-License-Identifier: Apache-2.0
// Routes between queues, and queues of other processes (acl_tdt_queue.h).
#include "acl/acl_tdt_queue.h"
#include "api/acl/object_calls.h"
#include "service/queue/queue_routes.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::enter_value;
using acl::insert_object;
using acl::to_handle;

extern "C" {

acltdtQueueRoute* acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId) {
  using Route = acltdtQueueRoute*;
  return enter_value(__func__, Route{}, [&]() -> Result<Route> {
    return insert_object<Route>(std::make_shared<service::QueueRoute>(srcId, dstId));
  });
}

aclError acltdtDestroyQueueRoute(const acltdtQueueRoute* route) {
  return acl::destroy<service::QueueRoute>(__func__, route);
}

aclError acltdtGetQueueRouteParam(const acltdtQueueRoute* route, acltdtQueueRouteParamType type,
                                  size_t len, size_t* paramRetSize, void* param) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(paramRetSize, "paramRetSize"));
    ANYNPU_TRY(service::read_route_param(to_handle(route), static_cast<service::RouteParam>(type),
                                         len, param));
    *paramRetSize = len;
    return {};
  });
}

acltdtQueueRouteList* acltdtCreateQueueRouteList(void) {
  return acl::create<acltdtQueueRouteList*, service::QueueRouteList>(__func__);
}

aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList* routeList) {
  return acl::destroy<service::QueueRouteList>(__func__, routeList);
}

aclError acltdtAddQueueRoute(acltdtQueueRouteList* routeList, const acltdtQueueRoute* route) {
  return enter(__func__,
               [&] { return service::add_to_route_list(to_handle(routeList), to_handle(route)); });
}

aclError acltdtGetQueueRoute(const acltdtQueueRouteList* routeList, size_t index,
                             acltdtQueueRoute* route) {
  return enter(__func__, [&] {
    return service::read_route_list(to_handle(routeList), index, to_handle(route));
  });
}

size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList* routeList) {
  return enter_value(__func__, size_t{0},
                     [&] { return service::route_list_size(to_handle(routeList)); });
}

aclError acltdtBindQueueRoutes(acltdtQueueRouteList* qRouteList) {
  return enter(__func__, [&] { return service::bind_routes(to_handle(qRouteList)); });
}

aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList* qRouteList) {
  return enter(__func__, [&] { return service::unbind_routes(to_handle(qRouteList)); });
}

acltdtQueueRouteQueryInfo* acltdtCreateQueueRouteQueryInfo(void) {
  return acl::create<acltdtQueueRouteQueryInfo*, service::QueueRouteQuery>(__func__);
}

aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo* info) {
  return acl::destroy<service::QueueRouteQuery>(__func__, info);
}

aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo* param,
                                      acltdtQueueRouteQueryInfoParamType type, size_t len,
                                      const void* value) {
  return enter(__func__, [&] {
    return service::set_route_query(to_handle(param), static_cast<service::RouteQueryParam>(type),
                                    len, value);
  });
}

aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo* queryInfo,
                                acltdtQueueRouteList* qRouteList) {
  return enter(__func__,
               [&] { return service::query_routes(to_handle(queryInfo), to_handle(qRouteList)); });
}

aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout) {
  return enter(__func__, [&] { return service::grant_queue(qid, pid, permission, timeout); });
}

aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t* permission) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(permission, "permission"));
    ANYNPU_ASSIGN(*permission, service::attach_queue(qid, timeout));
    return {};
  });
}

}  // extern "C"
