// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/call_arguments.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

using aclnn::ArgumentKind;

const char* const kParameters[] = {"self", "other", "alpha", "out"};
const aclnn::Signature kSignature{"aclnnTest", kParameters, "iiio"};
const aclnn::Row kRow{"aclnnTest"};

Handle tensor(void* data, std::vector<int64_t> shape, int64_t offset = 0, int32_t format = 2) {
  const int64_t stored = 100;
  return *create_nn_tensor(
      {shape.data(), shape.size(), 0, nullptr, offset, format, &stored, 1, data});
}

std::vector<uint64_t> key_of(Handle self, Handle other, int64_t alpha, Handle out) {
  const RawArgument raw[] = {{ArgumentKind::tensor, self},
                             {ArgumentKind::tensor, other},
                             RawArgument(alpha),
                             {ArgumentKind::tensor, out}};
  ResolvedCall call;
  EXPECT_TRUE(call.resolve(kSignature, raw).ok());
  NnKey key;
  call.make_key(kRow, key);
  return key.words();
}

TEST(NnCall, TheKeyHoldsShapesAndNotAddressesOrNumbers) {
  float a[100], b[100], c[100];
  const auto key = key_of(tensor(a, {2, 3}), tensor(b, {2, 3}), 1, tensor(c, {2, 3}));
  EXPECT_EQ(key_of(tensor(b, {2, 3}), tensor(c, {2, 3}), 2, tensor(a, {2, 3})), key);
  EXPECT_EQ(key_of(tensor(a, {2, 3}, 7), tensor(b, {2, 3}), 1, tensor(c, {2, 3})), key);
  EXPECT_NE(key_of(tensor(a, {3, 2}), tensor(b, {2, 3}), 1, tensor(c, {2, 3})), key);
  EXPECT_NE(key_of(tensor(a, {2, 3}), 0, 1, tensor(c, {2, 3})), key);
}

TEST(NnCall, TheKeyTellsWhichTensorsShareMemory) {
  float a[100], b[100];
  const auto apart = key_of(tensor(a, {4}), tensor(a, {4}, 50), 1, tensor(b, {4}));
  EXPECT_NE(key_of(tensor(a, {4}), tensor(a, {4}), 1, tensor(b, {4})), apart);
  EXPECT_NE(key_of(tensor(a, {4}), tensor(a, {4}, 2), 1, tensor(b, {4})), apart);
  EXPECT_NE(key_of(tensor(a, {4}), tensor(a, {4}, 2), 1, tensor(b, {4})),
            key_of(tensor(a, {4}), tensor(a, {4}), 1, tensor(b, {4})));
}

TEST(NnCall, RefusesObjectsThatAreGoneAndFormatsWithBlocks) {
  float a[100];
  const Handle gone = tensor(a, {2});
  EXPECT_TRUE(destroy_nn_object<NnTensor>(gone).ok());
  const int64_t dim = 2, stored[] = {1, 1, 16};
  const Handle blocks = *create_nn_tensor({&dim, 1, 0, nullptr, 0, 29, stored, 3, a});
  for (Handle wrong : {gone, blocks, Handle{12345}}) {
    const RawArgument raw[] = {{ArgumentKind::tensor, wrong},
                               {ArgumentKind::tensor, 0},
                               RawArgument(int64_t{1}),
                               {ArgumentKind::tensor, 0}};
    ResolvedCall call;
    const Status status = call.resolve(kSignature, raw);
    EXPECT_EQ(status.code(), wrong == blocks ? Code::invalid_argument : Code::invalid_handle);
    EXPECT_NE(status.to_string().find("self"), std::string::npos) << status.to_string();
  }
  // A weight that aclnnTransMatmulWeight was given lies as before.
  key_of(tensor(a, {4, 4}, 0, 29), 0, 1, tensor(a, {4, 4}, 20));
}

}  // namespace
}  // namespace anynpu::service
