// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "acl/acl_tdt_queue.h"
#include "acl/ops/acl_dvpp.h"
#include "device_case.h"

namespace conformance {
namespace {

class Queues : public DeviceCase {
 protected:
  void SetUp() override {
    DeviceCase::SetUp();
    acltdtQueueAttr* attributes = acltdtCreateQueueAttr();
    ASSERT_ACL(acltdtCreateQueue(attributes, &queue_));
    EXPECT_ACL(acltdtDestroyQueueAttr(attributes));
  }
  void TearDown() override {
    EXPECT_ACL(acltdtDestroyQueue(queue_));
    DeviceCase::TearDown();
  }

  uint32_t queue_ = 0;
};

TEST_F(Queues, DataGoesFromOneBlockOfDeviceMemoryToAnother) {
  Block<float> from(counted<float>(1000)), to(1000);
  ASSERT_ACL(acltdtEnqueueData(queue_, from.at(), from.bytes(), nullptr, 0, 1000, 0));
  size_t taken = 0;
  ASSERT_ACL(acltdtDequeueData(queue_, to.at(), to.bytes(), &taken, nullptr, 0, 1000));
  EXPECT_EQ(taken, from.bytes());
  EXPECT_EQ(to.get(), from.get());
}

TEST_F(Queues, AThreadThatWaitsForDataIsWoken) {
  Block<int32_t> from(counted<int32_t>(64));
  std::vector<int32_t> to(64);
  std::thread taker([&] {
    size_t taken = 0;
    EXPECT_ACL(aclrtSetDevice(0));
    EXPECT_ACL(acltdtDequeueData(queue_, to.data(), from.bytes(), &taken, nullptr, 0, 10000));
    EXPECT_ACL(aclrtResetDevice(0));
  });
  EXPECT_ACL(acltdtEnqueueData(queue_, from.at(), from.bytes(), nullptr, 0, 1000, 0));
  taker.join();
  EXPECT_EQ(to, counted<int32_t>(64));
}

// A picture of one grey, in YUV 4:2:0.
class Picture {
 public:
  Picture(uint32_t side, uint8_t grey)
      : bytes_(side * side * 3 / 2), desc_(acldvppCreatePicDesc()) {
    const std::vector<uint8_t> pixels(bytes_, grey);
    EXPECT_ACL(acldvppMalloc(&data_, bytes_));
    EXPECT_ACL(aclrtMemcpy(data_, bytes_, pixels.data(), bytes_, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL(acldvppSetPicDescData(desc_, data_));
    EXPECT_ACL(acldvppSetPicDescSize(desc_, bytes_));
    EXPECT_ACL(acldvppSetPicDescFormat(desc_, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    EXPECT_ACL(acldvppSetPicDescWidth(desc_, side));
    EXPECT_ACL(acldvppSetPicDescHeight(desc_, side));
    EXPECT_ACL(acldvppSetPicDescWidthStride(desc_, side));
    EXPECT_ACL(acldvppSetPicDescHeightStride(desc_, side));
  }
  ~Picture() {
    EXPECT_ACL(acldvppDestroyPicDesc(desc_));
    EXPECT_ACL(acldvppFree(data_));
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  acldvppPicDesc* desc() const { return desc_; }
  std::vector<uint8_t> pixels() const {
    std::vector<uint8_t> pixels(bytes_);
    EXPECT_ACL(aclrtMemcpy(pixels.data(), bytes_, data_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
    return pixels;
  }

 private:
  void* data_ = nullptr;
  uint32_t bytes_;
  acldvppPicDesc* desc_;
};

class Media : public DeviceCase {
 protected:
  aclError resize(const Picture& from, const Picture& to) {
    acldvppChannelDesc* channel = acldvppCreateChannelDesc();
    aclError code = acldvppCreateChannel(channel);
    acldvppResizeConfig* config = acldvppCreateResizeConfig();
    if (code == ACL_SUCCESS) {
      aclrtStream stream = create_stream();
      code = acldvppVpcResizeAsync(channel, from.desc(), to.desc(), config, stream);
      if (code == ACL_SUCCESS) code = aclrtSynchronizeStream(stream);
      EXPECT_ACL(acldvppDestroyChannel(channel));
    }
    EXPECT_ACL(acldvppDestroyResizeConfig(config));
    EXPECT_ACL(acldvppDestroyChannelDesc(channel));
    return code;
  }
};

TEST_F(Media, APictureIsScaledInDeviceMemory) {
  NEEDS(media);
  const Picture large(64, 77), small(32, 0);
  ASSERT_ACL(resize(large, small));
  EXPECT_EQ(small.pixels(), std::vector<uint8_t>(32 * 32 * 3 / 2, 77));
}

TEST_F(Media, ADeviceWithoutMediaRefusesIt) {
  if (capabilities().media) GTEST_SKIP() << "the device has media";
  const Picture large(64, 77), small(32, 5);
  EXPECT_NE(resize(large, small), ACL_SUCCESS);
  EXPECT_EQ(small.pixels(), std::vector<uint8_t>(32 * 32 * 3 / 2, 5));
}

}  // namespace
}  // namespace conformance
