// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queue_routes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "service/queue/queues.h"

namespace anynpu::service {
namespace {

template <typename T>
struct Held {
  const Handle number = HandleTable::instance().insert(std::make_shared<T>());
  ~Held() { EXPECT_NE(HandleTable::instance().remove<T>(number), nullptr); }
};

struct List : Held<QueueRouteList> {
  void add(uint32_t from, uint32_t to) const {
    const Held<QueueRoute> route;
    auto pin = resolve<QueueRoute>(route.number).value();
    pin->from = from;
    pin->to = to;
    EXPECT_TRUE(add_to_route_list(number, route.number).ok());
  }
  RouteStatus status(size_t index) const {
    const Held<QueueRoute> route;
    EXPECT_TRUE(read_route_list(number, index, route.number).ok());
    RouteStatus status{};
    EXPECT_TRUE(read_route_param(route.number, RouteParam::status, 4, &status).ok());
    return status;
  }
};

uint32_t new_queue() { return create_queue(nullptr).value(); }

std::string take(uint32_t queue) {
  char text[8] = {};
  const auto got = dequeue_data(queue, {text, sizeof text, nullptr, 0}, 0);
  return got.ok() ? std::string(text, *got) : "nothing";
}

TEST(QueueRoutes, OneQueueFeedsSeveral) {
  const uint32_t source = new_queue(), first = new_queue(), second = new_queue();
  EXPECT_TRUE(enqueue_data(source, {"before", 6, nullptr, 0}, 0).ok());
  List list;
  list.add(source, first);
  list.add(source, second);
  EXPECT_TRUE(bind_routes(list.number).ok());
  EXPECT_EQ(list.status(1), RouteStatus::bound);
  EXPECT_TRUE(enqueue_data(source, {"after", 5, nullptr, 0}, 0).ok());
  EXPECT_EQ(take(first), "before");
  EXPECT_EQ(take(first), "after");
  EXPECT_EQ(take(second), "after") << "what was there went to the one that was bound first";
  EXPECT_EQ(take(source), "nothing");
  EXPECT_TRUE(unbind_routes(list.number).ok());
  EXPECT_TRUE(enqueue_data(source, {"own", 3, nullptr, 0}, 0).ok());
  EXPECT_EQ(take(first), "nothing");
  EXPECT_EQ(take(source), "own");
  EXPECT_EQ(unbind_routes(list.number).code(), Code::not_found);
  for (uint32_t id : {source, first, second}) EXPECT_TRUE(destroy_queue(id).ok());
}

TEST(QueueRoutes, AFullTargetHoldsBackAndNothingIsLost) {
  const uint32_t source = new_queue(), target = new_queue();
  List list;
  list.add(source, target);
  EXPECT_TRUE(bind_routes(list.number).ok());
  for (int i = 0; i < 16; ++i) {
    const std::string text = std::to_string(i);
    EXPECT_TRUE(enqueue_data(source, {text.data(), text.size(), nullptr, 0}, 0).ok());
  }
  EXPECT_EQ(enqueue_data(source, {"x", 1, nullptr, 0}, 0).code(), Code::queue_full);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(take(target), std::to_string(i));
  EXPECT_TRUE(unbind_routes(list.number).ok());
  for (uint32_t id : {source, target}) EXPECT_TRUE(destroy_queue(id).ok());
}

TEST(QueueRoutes, CirclesAndUnknownQueuesAreRefusedOneByOne) {
  const uint32_t a = new_queue(), b = new_queue(), c = new_queue();
  List list;
  list.add(a, b);
  list.add(b, c);
  list.add(c, a);
  list.add(a, 987654);
  EXPECT_EQ(bind_routes(list.number).code(), Code::invalid_argument);
  EXPECT_EQ(list.status(0), RouteStatus::bound);
  EXPECT_EQ(list.status(2), RouteStatus::broken);
  EXPECT_EQ(list.status(3), RouteStatus::broken);
  (void)unbind_routes(list.number);
  for (uint32_t id : {a, b, c}) EXPECT_TRUE(destroy_queue(id).ok());
}

TEST(QueueRoutes, QueriesFillAnEmptyList) {
  const uint32_t a = new_queue(), b = new_queue(), c = new_queue();
  List bound;
  bound.add(a, b);
  bound.add(a, c);
  EXPECT_TRUE(bind_routes(bound.number).ok());
  const Held<QueueRouteQuery> held;
  const Handle query = held.number;
  const uint32_t both = 2, source = 0, wrong = 3;
  List found;
  EXPECT_EQ(query_routes(query, found.number).code(), Code::invalid_argument) << "no mode";
  EXPECT_EQ(set_route_query(query, RouteQueryParam::mode, 4, &wrong).code(),
            Code::invalid_argument);
  EXPECT_TRUE(set_route_query(query, RouteQueryParam::mode, 4, &both).ok());
  EXPECT_TRUE(set_route_query(query, RouteQueryParam::from, 4, &a).ok());
  EXPECT_EQ(query_routes(query, found.number).code(), Code::invalid_argument) << "no target";
  EXPECT_TRUE(set_route_query(query, RouteQueryParam::to, 4, &c).ok());
  EXPECT_TRUE(query_routes(query, found.number).ok());
  EXPECT_EQ(*route_list_size(found.number), 1u);
  EXPECT_EQ(query_routes(query, found.number).code(), Code::invalid_argument) << "not empty";
  EXPECT_TRUE(destroy_queue(c).ok());
  List broken;
  const uint32_t abnormal = 100;
  EXPECT_TRUE(set_route_query(query, RouteQueryParam::mode, 4, &abnormal).ok());
  EXPECT_TRUE(query_routes(query, broken.number).ok());
  EXPECT_EQ(*route_list_size(broken.number), 1u);
  EXPECT_EQ(broken.status(0), RouteStatus::broken);
  List all;
  EXPECT_TRUE(set_route_query(query, RouteQueryParam::mode, 4, &source).ok());
  EXPECT_TRUE(query_routes(query, all.number).ok());
  EXPECT_EQ(*route_list_size(all.number), 2u);
  EXPECT_TRUE(unbind_routes(bound.number).ok());
  for (uint32_t id : {a, b}) EXPECT_TRUE(destroy_queue(id).ok());
}

TEST(QueueRoutes, AQueueIsGrantedToThisProcessAlone) {
  const uint32_t queue = new_queue();
  EXPECT_EQ(attach_queue(queue, 0).status().code(), Code::permission_denied);
  EXPECT_EQ(grant_queue(queue, getpid(), 8, 0).code(), Code::invalid_argument);
  EXPECT_EQ(grant_queue(queue, 1, 2, 0).code(), Code::unsupported_feature);
  EXPECT_TRUE(grant_queue(queue, getpid(), 2, 0).ok());
  EXPECT_TRUE(grant_queue(queue, getpid(), 4, 0).ok());
  EXPECT_EQ(*attach_queue(queue, 0), 6u);
  EXPECT_TRUE(destroy_queue(queue).ok());
  EXPECT_EQ(attach_queue(queue, 0).status().code(), Code::unknown_queue);
}

}  // namespace
}  // namespace anynpu::service
