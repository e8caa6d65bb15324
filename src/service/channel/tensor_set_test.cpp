// SPDX-License-Identifier: Apache-2.0
#include "service/channel/tensor_set.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

Handle new_set() { return HandleTable::instance().insert(std::make_shared<TensorSet>()); }

template <typename T>
bool ended(Handle handle) {
  return HandleTable::instance().remove<T>(handle) != nullptr;
}

Handle set_of(Handle item) {
  Handle set = new_set();
  EXPECT_TRUE(add_tensor_item(set, item).ok());
  return set;
}

TEST(TensorSets, ASetKnowsItsItemsAndEndsThoseItReceived) {
  const int64_t dims[] = {3};
  char data[3] = {'a', 'b', 'c'};
  Handle item = create_tensor_item(0, dims, 4, data, 3).value();
  Handle set = set_of(item);
  EXPECT_EQ(*item_of_set(set, 0), item);
  EXPECT_EQ(item_of_set(set, 1).status().code(), Code::invalid_argument);
  int64_t out[2] = {};
  EXPECT_EQ(copy_dims(item, {}).code(), Code::invalid_argument);
  EXPECT_TRUE(copy_dims(item, out).ok());
  EXPECT_EQ(out[0], 3);
  EXPECT_TRUE(ended<TensorSet>(set));
  EXPECT_TRUE(tensor_item(item).ok()) << "the program's";
  Handle received = new_set();
  EXPECT_TRUE(fill_set(received, "name", {TensorItem{0, 4}}).ok());
  Handle own = item_of_set(received, 0).value();
  EXPECT_TRUE(ended<TensorSet>(received));
  EXPECT_EQ(tensor_item(own).status().code(), Code::invalid_handle);
  EXPECT_EQ(create_tensor_item(5, {}, 0, nullptr, 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(create_tensor_item(0, {}, 0, nullptr, 1).status().code(), Code::invalid_argument);
  EXPECT_TRUE(ended<TensorItem>(item));
}

}  // namespace
}  // namespace anynpu::service
