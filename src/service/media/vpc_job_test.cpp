// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_job.h"

#include "service/media/vpc_for_test.h"

namespace anynpu::media {
namespace {

using VpcJobTest = VpcWorkTest;

TEST_F(VpcJobTest, a_part_is_cropped_scaled_and_pasted_when_the_job_runs) {
  VpcJob job;
  VpcJob::Part part;
  part.crop = Edges{0, 15, 0, 7};
  part.paste = Edges{16, 31, 8, 15};
  ASSERT_TRUE(job.add(pair.from, pair.to, part).ok());
  EXPECT_EQ(job.bytes(), pair.to.bytes);
  EXPECT_EQ(row(pair.to, 8)[16], 0) << "not before it runs";
  job.run();
  EXPECT_EQ(row(pair.to, 8)[16], 50);
  EXPECT_EQ(row(pair.to, 7)[16], 0);
  EXPECT_EQ(row(pair.to, 8)[15], 0);
}

TEST_F(VpcJobTest, pictures_are_checked_when_the_work_is_put_together) {
  PictureSpec small = pair.to;
  small.bytes -= 1;
  PictureSpec nowhere = pair.to;
  nowhere.data = nullptr;
  VpcJob job;
  EXPECT_EQ(job.add(pair.from, small, {}).code(), Code::invalid_argument);
  EXPECT_FALSE(job.add(pair.from, nowhere, {}).ok());
  VpcJob::Part outside;
  outside.crop = Edges{0, 33, 0, 7};
  EXPECT_EQ(job.add(pair.from, pair.to, outside).code(), Code::invalid_argument);
  job.run();
  EXPECT_EQ(row(pair.to, 0)[0], 0) << "what was refused is no part of it";
}

TEST_F(VpcJobTest, conversions_tables_and_other_work_need_equal_sizes) {
  const PictureSpec half = picture(pixel::kYuv400, 16, 8, 0);
  const auto nothing = [](const pixel::Picture&, const pixel::Picture&) {};
  VpcJob job;
  EXPECT_EQ(job.add_conversion(pair.from, half).code(), Code::invalid_argument);
  EXPECT_EQ(job.add_lookup(pair.from, half, {}).code(), Code::invalid_argument);
  EXPECT_EQ(job.add_work(pair.from, half, VpcJob::Size::same, nothing).code(),
            Code::invalid_argument);
  EXPECT_TRUE(job.add_work(pair.from, half, VpcJob::Size::any, nothing).ok());
  const PictureSpec other = picture(pixel::kNv12, 32, 16, 0);
  EXPECT_EQ(job.add_work(pair.from, other, VpcJob::Size::any, nothing).code(),
            Code::invalid_argument)
      << "another layout";
  EXPECT_TRUE(job.add_conversion(pair.from, other).ok()) << "that is what it is for";
}

TEST_F(VpcJobTest, levels_of_a_pyramid_halve_and_round_up) {
  const PictureSpec from = picture(pixel::kYuv400, 50, 34, 90);
  const PictureSpec half = picture(pixel::kYuv400, 25, 17, 0);
  const PictureSpec levels[] = {half, picture(pixel::kYuv400, 13, 9, 0)};
  VpcJob job;
  const Status status = job.add_pyramid(from, levels, pixel::gaussian_5x5(), {});
  ASSERT_TRUE(status.ok()) << status.to_string();
  job.run();
  EXPECT_EQ(row(levels[1], 4)[6], 90);
  const PictureSpec even = picture(pixel::kYuv400, 24, 17, 0);
  EXPECT_EQ(job.add_pyramid(from, {&even, 1}, pixel::gaussian_5x5(), {}).code(),
            Code::invalid_argument);
}

TEST_F(VpcJobTest, a_queued_job_runs_on_its_stream_and_keeps_what_it_needs) {
  auto job = std::make_shared<VpcJob>();
  int counted = 0;
  ASSERT_TRUE(job->add_histogram(pair.from,
                                 [&](const pixel::Histogram& values) {
                                   counted = static_cast<int>(values.count[0][50]);
                                 })
                  .ok());
  auto keep = std::make_shared<int>(1);
  const std::weak_ptr<int> kept = keep;
  const auto stream = device::Runtime::instance().stream(0).value();
  ASSERT_TRUE(submit_vpc(std::move(job), std::move(keep), *stream).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(counted, 32 * 16);
  EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace anynpu::media
