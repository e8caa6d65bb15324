// SPDX-License-Identifier: Apache-2.0
// A job of the VPC: pictures are checked when work is added, and the job runs later, on a stream.
// It may have many parts (batches); parts that write different pictures run in parallel.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/stream.h"
#include "media/rules.h"
#include "media/support.h"
#include "pixel/transform.h"

namespace anynpu::media {

class VpcJob {
 public:
  // The version selects the meaning of the interpolation numbers.
  explicit VpcJob(Version version = Version::v2,
                  const pixel::ColorMatrix& matrix = pixel::color_matrix(0))
      : version_(version), matrix_(matrix) {}
  VpcJob(const VpcJob&) = delete;
  VpcJob& operator=(const VpcJob&) = delete;

  struct Scale {
    uint32_t width = 0, height = 0;
    uint32_t interpolation = 0;
  };
  struct Part {
    std::optional<Edges> crop;   // the whole input when left out
    std::optional<Edges> paste;  // the whole output when left out
    std::optional<Scale> first;  // scaled to this size before
    uint32_t interpolation = 0;
    std::optional<pixel::Border> border;  // around the pasted region
    uint8_t alpha = 255;
  };
  // Crops, scales, converts and pastes.
  Status add(const PictureSpec& from, const PictureSpec& to, const Part& part);
  // Sizes have to be equal.
  Status add_conversion(const PictureSpec& from, const PictureSpec& to, uint8_t alpha = 255);
  Status add_histogram(const PictureSpec& from, std::function<void(const pixel::Histogram&)> take);
  // Layouts and sizes have to be equal.
  Status add_lookup(const PictureSpec& from, const PictureSpec& to, const pixel::Lookup& table);
  // Each of `to` is half as large as the one before, rounded up.
  Status add_pyramid(const PictureSpec& from, std::span<const PictureSpec> to,
                     const pixel::Filter5x5& filter, const pixel::Border& border);

  // Any other work on two pictures of one layout, which is not packed 4:2:2.
  enum class Size : uint8_t { same, any };
  using Work = std::function<void(const pixel::Picture& from, const pixel::Picture& to)>;
  Status add_work(const PictureSpec& from, const PictureSpec& to, Size size, Work work);

  // Work on several pictures of one layout, which is not packed 4:2:2.
  using WorkOnMany =
      std::function<void(const std::vector<pixel::Picture>& from, const pixel::Picture& to)>;
  Status add_pictures(std::span<const PictureSpec> from, const PictureSpec& to, WorkOnMany work);

  const pixel::ColorMatrix& matrix() const { return matrix_; }
  const std::vector<pixel::Picture>& outputs() const { return outputs_; }
  // Bytes of all outputs, for the trace.
  uint64_t bytes() const { return bytes_; }
  void run() const;

 private:
  struct Pair {
    pixel::Picture from;
    pixel::Picture to;
  };
  Result<pixel::Picture> take(const PictureSpec& spec, const char* role, device::Access access);
  Result<Pair> take_pair(const PictureSpec& from, const PictureSpec& to);

  const Version version_;
  const pixel::ColorMatrix matrix_;
  std::vector<std::function<void()>> parts_;
  std::vector<device::Range> memory_;  // kept until the job is gone
  std::vector<pixel::Picture> outputs_;
  uint64_t bytes_ = 0;
};

// Queues the job; `keep` lives as long as it does.
Status submit_vpc(std::shared_ptr<VpcJob> job, std::shared_ptr<void> keep, device::Stream& stream);

}  // namespace anynpu::media
