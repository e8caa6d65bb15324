// SPDX-License-Identifier: Apache-2.0
#include "service/model/model_table.h"

#include <gtest/gtest.h>

#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

class ModelTableTest : public ServiceTest {
 protected:
  void TearDown() override {
    table_.clear();
    ServiceTest::TearDown();
  }
  static std::shared_ptr<Model> model_of_bundle(uint32_t bundle) {
    auto model = std::make_shared<Model>();
    model->bundle_id = bundle;
    return model;
  }
  uint32_t add(uint32_t bundle = 0) { return table_.add(model_of_bundle(bundle)).value(); }
  bool has(uint32_t id) { return table_.find(id).ok(); }

  ModelTable& table_ = ModelTable::instance();
};

TEST_F(ModelTableTest, IdsAreSmallPositiveNumbersThatDoNotComeAgainSoon) {
  const uint32_t first = add(), second = add();
  EXPECT_GT(first, 0u);
  EXPECT_LE(second, ModelTable::kMaxModels);
  EXPECT_NE(first, second);
  ASSERT_TRUE(table_.remove(first).ok());
  EXPECT_NE(add(), first);
}

TEST_F(ModelTableTest, AnIdThatNoModelHasIsNotFound) {
  const uint32_t id = add();
  EXPECT_TRUE(has(id));
  ASSERT_TRUE(table_.remove(id).ok());
  for (const uint32_t none : {uint32_t{0}, id, ModelTable::kMaxModels + 1, UINT32_MAX}) {
    EXPECT_EQ(table_.find(none).status().code(), Code::model_not_found) << none;
    EXPECT_EQ(table_.remove(none).code(), Code::model_not_found) << none;
  }
}

TEST_F(ModelTableTest, AModelThatIsInUseOutlivesItsId) {
  std::weak_ptr<Model> gone;
  {
    const uint32_t id = add(7);
    const auto pin = table_.find(id);
    gone = pin->share();
    ASSERT_TRUE(table_.remove(id).ok());
    EXPECT_EQ((*pin)->bundle_id, 7u);
    EXPECT_FALSE(gone.expired());
  }
  EXPECT_TRUE(gone.expired());
}

TEST_F(ModelTableTest, ABundleRemovesItsOwnModelsAlone) {
  const uint32_t own = add(3), other = add(4);
  EXPECT_FALSE(table_.remove_of_bundle(other, 3));
  EXPECT_TRUE(has(other));
  EXPECT_TRUE(table_.remove_of_bundle(own, 3));
  EXPECT_FALSE(table_.remove_of_bundle(own, 3)) << "gone";
  EXPECT_FALSE(table_.remove_of_bundle(0, 3));
}

TEST_F(ModelTableTest, EveryIdCanBeInUseAndOneMoreFails) {
  const auto model = std::make_shared<Model>();
  for (uint32_t i = 0; i < ModelTable::kMaxModels; ++i) ASSERT_TRUE(table_.add(model).ok()) << i;
  EXPECT_EQ(table_.add(model).status().code(), Code::limit_exceeded);
  ASSERT_TRUE(table_.remove(17).ok());
  EXPECT_EQ(table_.add(model).value(), 17u);
  table_.clear();
  EXPECT_EQ(model.use_count(), 1);
}

}  // namespace
}  // namespace anynpu::service
