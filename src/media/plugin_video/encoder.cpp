// SPDX-License-Identifier: Apache-2.0
// Encoding through libavcodec: x264 and x265.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
}

#include <cstring>

#include "media/plugin_video/codec.h"
#include "pixel/chroma.h"

namespace anynpu::media {
namespace {

// Options in the words of x264 and x265, which mostly agree.
class Words {
 public:
  template <typename V>
  void add(const char* key, const V& value) {
    if (!text_.empty()) text_ += ':';
    text_ += format("{}={}", key, value);
  }
  void add_text(const std::string& more) {
    if (more.empty()) return;
    if (!text_.empty()) text_ += ':';
    text_ += more;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Encoder final : public VideoEncoder {
 public:
  explicit Encoder(const VideoEncoderOptions& options) : options_(options) {}
  ~Encoder() override {
    av_frame_free(&frame_);
    av_frame_free(&borrowed_);
    av_packet_free(&packet_);
    avcodec_free_context(&context_);
  }

  Status open() {
    const bool h264 = options_.type == VideoType::h264;
    const AVCodec* codec = avcodec_find_encoder_by_name(h264 ? "libx264" : "libx265");
    if (codec == nullptr)
      return fail(Code::unsupported_feature, "libavcodec was built without {}",
                  h264 ? "x264" : "x265");
    context_ = avcodec_alloc_context3(codec);
    packet_ = av_packet_alloc();
    frame_ = av_frame_alloc();
    borrowed_ = av_frame_alloc();
    if (context_ == nullptr || packet_ == nullptr || frame_ == nullptr || borrowed_ == nullptr)
      return no_memory();
    describe();
    const std::string words = h264 ? x264_words() : x265_words();
    av_opt_set(context_->priv_data, h264 ? "x264-params" : "x265-params", words.c_str(), 0);
    const int ret = avcodec_open2(context_, codec, nullptr);
    if (ret < 0)
      return fail(Code::invalid_argument, "the encoder cannot start with '{}': {}", words,
                  av_text(ret));
    return make_frame();
  }

  Status encode(const pixel::Picture& from, uint64_t id, bool force_key,
                const PacketSink& sink) override {
    const bool as_it_is =
        context_->pix_fmt == AV_PIX_FMT_NV12 && from.format->at[1] == 0 && !options_.grey;
    AVFrame* frame = as_it_is ? borrowed_ : frame_;
    ANYNPU_TRY(as_it_is ? borrow(from) : copy(from));
    ANYNPU_TRY(mark_regions(frame));
    frame->pts = static_cast<int64_t>(id);
    frame->pict_type = force_key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    const int ret = avcodec_send_frame(context_, frame);
    av_frame_unref(borrowed_);
    if (ret < 0) return fail(Code::internal, "the picture was not encoded: {}", av_text(ret));
    return receive(sink);
  }

  Status flush(const PacketSink& sink) override {
    avcodec_send_frame(context_, nullptr);
    return receive(sink);
  }

 private:
  void describe() {
    context_->width = static_cast<int>(options_.width);
    context_->height = static_cast<int>(options_.height);
    // x264 takes chroma in turns as pictures have it, x265 does not.
    context_->pix_fmt = options_.type == VideoType::h264 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P;
    context_->time_base = {1, static_cast<int>(options_.frame_rate)};
    context_->framerate = {static_cast<int>(options_.frame_rate), 1};
    context_->gop_size = static_cast<int>(options_.gop);
    context_->max_b_frames = static_cast<int>(options_.b_frames);
    context_->thread_count = static_cast<int>(options_.threads);
    context_->slices = static_cast<int>(options_.slices);
    if (options_.rate != RateControl::fixed_qp && options_.rate != RateControl::variable_bits)
      context_->bit_rate = int64_t{options_.kbps} * 1000;
    if (options_.least_qp >= 0) context_->qmin = options_.least_qp;
    if (options_.most_qp >= 0) context_->qmax = options_.most_qp;
    if (options_.reference_frames > 0) context_->refs = static_cast<int>(options_.reference_frames);
    describe_signal();
    av_opt_set(context_->priv_data, "preset", "veryfast", 0);
    // Without B frames every picture gives its packet at once, as the unit does.
    if (options_.b_frames == 0) av_opt_set(context_->priv_data, "tune", "zerolatency", 0);
    av_opt_set(context_->priv_data, "forced-idr", "1", 0);
    if (!options_.profile.empty())
      av_opt_set(context_->priv_data, "profile", options_.profile.c_str(), 0);
  }

  // What the rate is kept over. A limit of I frames to so many P frames is one of the buffer, which
  // bounds the largest picture: with n pictures a group, the bits of a group are those of n - 1 P
  // frames and of i_to_p more.
  uint32_t buffer_kbit() const {
    const auto& o = options_;
    uint64_t kbit = uint64_t{o.kbps} * o.window_ms / 1000;
    if (o.i_to_p > 0 && o.gop > 1) {
      const uint64_t group = uint64_t{o.kbps} * o.gop / o.frame_rate;
      const uint64_t largest = group * o.i_to_p / (o.gop - 1 + o.i_to_p);
      kbit = std::min(kbit, std::max(largest, uint64_t{o.kbps} / o.frame_rate));
    }
    return static_cast<uint32_t>(std::max<uint64_t>(kbit, 1));
  }

  void describe_signal() {
    const VideoSignal& s = options_.signal;
    if (s.sample_width > 0 && s.sample_height > 0)
      context_->sample_aspect_ratio = {static_cast<int>(s.sample_width),
                                       static_cast<int>(s.sample_height)};
    if (!s.present) return;
    context_->color_range = s.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    context_->color_primaries = static_cast<AVColorPrimaries>(s.primaries);
    context_->color_trc = static_cast<AVColorTransferCharacteristic>(s.transfer);
    context_->colorspace = static_cast<AVColorSpace>(s.matrix);
  }

  Status mark_regions(AVFrame* frame) const {
    av_frame_remove_side_data(frame, AV_FRAME_DATA_REGIONS_OF_INTEREST);
    if (options_.regions.empty()) return {};
    const size_t bytes = options_.regions.size() * sizeof(AVRegionOfInterest);
    AVFrameSideData* data = av_frame_new_side_data(frame, AV_FRAME_DATA_REGIONS_OF_INTEREST, bytes);
    if (data == nullptr) return no_memory();
    auto* region = reinterpret_cast<AVRegionOfInterest*>(data->data);
    for (const QpRegion& r : options_.regions) {
      *region++ = {sizeof(AVRegionOfInterest),         static_cast<int>(r.top),
                   static_cast<int>(r.top + r.height), static_cast<int>(r.left),
                   static_cast<int>(r.left + r.width), {r.delta, 51}};
    }
    return {};
  }

  void add_common(Words& words) const {
    const auto& o = options_;
    words.add("keyint", o.gop);
    words.add("min-keyint", o.scene_cut ? 1 : o.gop);  // a new scene may come at any time
    words.add("scenecut", o.scene_cut ? 40 : 0);
    // Regions go through the same tables as changes of QP inside a frame.
    words.add("aq-mode", o.block_rate_control || !o.regions.empty() ? 1 : 0);
    if (!o.block_rate_control && !o.regions.empty()) words.add("aq-strength", "0.01");
    if (o.signal.present) {
      constexpr const char* formats[] = {"component", "pal", "ntsc", "secam", "mac", "undef"};
      words.add("videoformat", formats[std::min(o.signal.format, 5u)]);
    }
    const uint32_t buffer = buffer_kbit();
    switch (o.rate) {
      case RateControl::constant_bits:
        words.add("vbv-maxrate", o.kbps);
        words.add("vbv-bufsize", buffer);
        break;
      case RateControl::variable_bits:
        words.add("crf", o.type == VideoType::h264 ? 23 : 28);
        words.add("vbv-init", "0.2");  // a full buffer would start above the ceiling
        words.add("vbv-maxrate", o.kbps);
        words.add("vbv-bufsize", buffer);
        break;
      case RateControl::quality_bits:
        words.add("vbv-maxrate", o.kbps + o.kbps / 2);
        words.add("vbv-bufsize", 2 * buffer);
        break;
      case RateControl::fixed_qp:
        words.add("qp", o.qp_p);
        break;
    }
    const int32_t delta = o.rate == RateControl::fixed_qp ? o.qp_p - o.qp_i : o.ip_qp_delta;
    // A factor of 2^(1/6) is one step of QP.
    if (delta != 0 || o.rate == RateControl::fixed_qp)
      words.add("ipratio", __builtin_exp2(delta / 6.0));
    if (o.rate == RateControl::fixed_qp && o.b_frames > 0)
      words.add("pbratio", __builtin_exp2((o.qp_b - o.qp_p) / 6.0));
  }

  std::string x264_words() const {
    Words words;
    add_common(words);
    words.add("annexb", 1);
    words.add("repeat-headers", 1);
    words.add("nal-hrd", "none");
    if (options_.first_qp >= 0) words.add("zones", format("0,0,q={}", options_.first_qp));
    if (options_.rate == RateControl::constant_bits) words.add("ratetol", "1.0");
    if (options_.intra_refresh) words.add("intra-refresh", 1);
    if (options_.b_frames > 0) words.add("b-adapt", 0);
    words.add_text(options_.more);
    return words.text();
  }

  std::string x265_words() const {
    Words words;
    add_common(words);
    words.add("log-level", "none");
    words.add("repeat-headers", 1);
    words.add("annexb", 1);
    words.add("info", 0);
    words.add("open-gop", 0);
    words.add("pools", "none");
    words.add("frame-threads", 1);
    if (options_.slices > 1) words.add("slices", options_.slices);
    if (options_.rate == RateControl::constant_bits) words.add("strict-cbr", 1);
    if (options_.intra_refresh) words.add("intra-refresh", 1);
    if (options_.least_qp >= 0) words.add("qpmin", options_.least_qp);
    if (options_.most_qp >= 0) words.add("qpmax", options_.most_qp);
    if (options_.b_frames > 0) words.add("b-adapt", 0);
    words.add_text(options_.more);
    return words.text();
  }

  Status make_frame() {
    frame_->format = context_->pix_fmt;
    frame_->width = context_->width;
    frame_->height = context_->height;
    if (av_frame_get_buffer(frame_, 0) < 0) return no_memory();
    return {};
  }

  // The picture's own memory: the encoder reads it inside the call that sends it.
  Status borrow(const pixel::Picture& from) {
    borrowed_->format = context_->pix_fmt;
    borrowed_->width = context_->width;
    borrowed_->height = context_->height;
    borrowed_->buf[0] = av_buffer_create(
        from.data, pixel::picture_bytes(*from.format, from.width_stride, from.height_stride),
        [](void*, uint8_t*) {}, nullptr, AV_BUFFER_FLAG_READONLY);
    if (borrowed_->buf[0] == nullptr) return no_memory();
    for (int i = 0; i < 2; ++i) {
      borrowed_->data[i] = from.plane(i).data;
      borrowed_->linesize[i] = static_cast<int>(from.plane(i).stride);
    }
    return {};
  }

  Status copy(const pixel::Picture& from) {
    if (av_frame_make_writable(frame_) < 0) return no_memory();
    const pixel::Plane luma = from.plane(0);
    for (uint32_t y = 0; y < luma.height; ++y)
      std::memcpy(frame_->data[0] + size_t{y} * frame_->linesize[0], luma.row(y), luma.width);
    const bool in_turns = context_->pix_fmt == AV_PIX_FMT_NV12;
    const pixel::Plane chroma = from.plane(1);
    std::vector<uint8_t> lines(in_turns ? 2 * size_t{chroma.width} : 0);
    for (uint32_t y = 0; y < chroma.height; ++y) {
      uint8_t* rows[2];  // of U and V
      for (int c = 0; c < 2; ++c)
        rows[c] = in_turns ? lines.data() + c * size_t{chroma.width}
                           : frame_->data[c + 1] + size_t{y} * frame_->linesize[c + 1];
      if (options_.grey)
        for (uint8_t* row : rows) std::memset(row, 128, chroma.width);
      else
        pixel::take_apart(chroma.row(y), chroma.width, rows[from.format->at[1]],
                          rows[from.format->at[2]]);
      if (in_turns)
        pixel::interleave(rows[0], rows[1], chroma.width,
                          frame_->data[1] + size_t{y} * frame_->linesize[1]);
    }
    return {};
  }

  Status receive(const PacketSink& sink) {
    for (;;) {
      const int ret = avcodec_receive_packet(context_, packet_);
      if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF) return {};
      if (ret < 0) return fail(Code::internal, "the picture was not encoded: {}", av_text(ret));
      EncodedPacket packet;
      packet.bytes = {packet_->data, static_cast<size_t>(packet_->size)};
      packet.id = static_cast<uint64_t>(packet_->pts);
      packet.key = packet_->flags & AV_PKT_FLAG_KEY;
      packet.type = packet.key                                ? FrameType::i
                    : packet_->flags & AV_PKT_FLAG_DISPOSABLE ? FrameType::b
                                                              : FrameType::p;
      const auto nals = find_nals(packet.bytes);
      packet.nals = nals;
      sink(packet);
      av_packet_unref(packet_);
    }
  }

  const VideoEncoderOptions options_;
  AVCodecContext* context_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* frame_ = nullptr;     // memory of its own, for pictures in another layout
  AVFrame* borrowed_ = nullptr;  // memory of the program
};

}  // namespace

Result<std::unique_ptr<VideoEncoder>> open_encoder(const VideoEncoderOptions& options) {
  auto encoder = std::make_unique<Encoder>(options);
  ANYNPU_TRY(encoder->open());
  return std::unique_ptr<VideoEncoder>(std::move(encoder));
}

}  // namespace anynpu::media
