// SPDX-License-Identifier: Apache-2.0
// A VPC channel: jobs are queued on its stream and get a number; any thread may wait for the result
// of a number, once. Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "service/media/channel_stream.h"
#include "service/media/channel_table.h"
#include "service/media/record.h"
#include "service/media/region_board.h"
#include "service/media/stitching.h"
#include "service/media/vpc_job.h"

namespace anynpu::media {

// A colour matrix of kColorMatrices by number, or one of the program's own.
struct ChannelMatrix {
  static constexpr uint32_t kOwn = 100;
  uint32_t number = 0;
  pixel::ColorMatrix matrix = pixel::color_matrix(0);
};

class VpcChannel : public std::enable_shared_from_this<VpcChannel> {
 public:
  static Result<std::shared_ptr<VpcChannel>> open();
  explicit VpcChannel(ChannelStream stream) : stream_(std::move(stream)) {}

  // Queues the job that `add` fills, with the channel's matrix; returns its number. The timeout is
  // checked but not needed: queueing does not wait.
  Result<uint32_t> run(int32_t milliseconds, const std::function<Status(VpcJob&)>& add);
  // Fetches the result; not_found for numbers never given or fetched already.
  Status wait(uint32_t job, int32_t milliseconds);

  // For later jobs. Coefficients of custom matrices are limited to the range of the
  // conversions.
  Status set_matrix(const ChannelMatrix& matrix);
  ChannelMatrix matrix();
  // Parameters of surround view, and the program's struct for the getter.
  Status set_stitching(StitchSpec spec, Record record);
  Record stitching_record();
  // A job for surround view.
  Result<uint32_t> stitch(std::span<const PictureSpec> from, const PictureSpec& to,
                          int32_t milliseconds);
  // What is drawn over the outputs of all jobs that follow.
  const std::shared_ptr<RegionBoard>& board() const { return board_; }
  void drain() { (void)stream_->synchronize(); }

 private:
  Result<uint32_t> submit(std::shared_ptr<VpcJob> job);
  void finish(uint32_t job);

  ChannelStream stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint32_t, bool> jobs_;  // whether they are done
  uint32_t next_ = 0;
  ChannelMatrix matrix_;
  std::optional<StitchSpec> stitching_;
  Record stitching_record_;
  const std::shared_ptr<RegionBoard> board_ = std::make_shared<RegionBoard>();
};

ChannelTable<VpcChannel>& vpc_channels();
// A channel with the lowest free number, which is returned.
Result<int32_t> create_vpc_channel();

}  // namespace anynpu::media
