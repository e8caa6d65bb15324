// SPDX-License-Identifier: Apache-2.0
// Decoding through libavcodec.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>

#include "media/plugin_video/codec.h"
#include "media/plugin_video/nv12_scaler.h"

namespace anynpu::media {
namespace {

constexpr int kMostPixels = 8192 * 8192;
constexpr size_t kMostBytes = 1 << 30;  // of a packet

class Decoder final : public VideoDecoder {
 public:
  static Result<std::unique_ptr<VideoDecoder>> make(VideoType type, uint32_t threads) {
    auto decoder = std::unique_ptr<Decoder>(new Decoder(type));
    ANYNPU_TRY(decoder->open(threads));
    return std::unique_ptr<VideoDecoder>(std::move(decoder));
  }

  ~Decoder() override {
    av_parser_close(parser_);
    av_frame_free(&frame_);
    av_packet_free(&packet_);
    avcodec_free_context(&context_);
  }

  Result<PacketKind> take(Bytes packet) override {
    av_packet_unref(packet_);
    if (packet.size() > kMostBytes)
      return fail(Code::file_invalid, "the packet has {} bytes; at most {} are taken",
                  packet.size(), kMostBytes);
    // The parser and the decoder read a little beyond the end.
    if (av_new_packet(packet_, static_cast<int>(packet.size())) < 0) return no_memory();
    std::copy(packet.begin(), packet.end(), packet_->data);  // may be none
    PacketKind kind = kind_of(packet, type_);
    if (!kind.has_picture || parser_ == nullptr) return kind;
    uint8_t* out = nullptr;
    int out_size = 0;
    av_parser_parse2(parser_, context_, &out, &out_size, packet_->data, packet_->size,
                     AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
    kind.width = static_cast<uint32_t>(std::max(parser_->width, 0));
    kind.height = static_cast<uint32_t>(std::max(parser_->height, 0));
    const auto now = parser_->picture_structure;
    const bool field =
        now == AV_PICTURE_STRUCTURE_TOP_FIELD || now == AV_PICTURE_STRUCTURE_BOTTOM_FIELD;
    kind.second_field = field && open_field_ != 0 && open_field_ != now;
    open_field_ = field && !kind.second_field ? now : 0;
    return kind;
  }

  Status decode(uint64_t id, const FrameSink& sink) override {
    packet_->pts = packet_->dts = static_cast<int64_t>(id);
    int ret = avcodec_send_packet(context_, packet_);
    if (ret == AVERROR(EAGAIN)) {
      ANYNPU_TRY(receive(sink));
      ret = avcodec_send_packet(context_, packet_);
    }
    if (ret < 0 && ret != AVERROR_EOF)
      return fail(Code::file_invalid, "the video data cannot be decoded: {}", av_text(ret));
    return receive(sink);
  }

  Status flush(const FrameSink& sink) override {
    avcodec_send_packet(context_, nullptr);
    const Status status = receive(sink);
    avcodec_flush_buffers(context_);
    open_field_ = 0;
    return status;
  }

  uint32_t reference_frames() const override {
    return type_ == VideoType::h264 ? static_cast<uint32_t>(std::max(context_->refs, 0)) : 0;
  }
  uint32_t delay() const override {
    return static_cast<uint32_t>(std::max(context_->has_b_frames, 0));
  }

 private:
  explicit Decoder(VideoType type) : type_(type) {}

  Status open(uint32_t threads) {
    const auto id = type_ == VideoType::h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC;
    const AVCodec* codec = avcodec_find_decoder(id);
    context_ = codec != nullptr ? avcodec_alloc_context3(codec) : nullptr;
    packet_ = av_packet_alloc();
    frame_ = av_frame_alloc();
    if (context_ == nullptr || packet_ == nullptr || frame_ == nullptr) return no_memory();
    // Threads over frames would hold pictures back; threads over slices do not.
    context_->thread_count = static_cast<int>(threads);
    context_->thread_type = FF_THREAD_SLICE;
    context_->max_pixels = kMostPixels;
    const int ret = avcodec_open2(context_, codec, nullptr);
    if (ret < 0) return fail(Code::internal, "the decoder cannot start: {}", av_text(ret));
    parser_ = av_parser_init(id);
    if (parser_ != nullptr) parser_->flags |= PARSER_FLAG_COMPLETE_FRAMES;
    return {};
  }

  Status receive(const FrameSink& sink) {
    for (;;) {
      const int ret = avcodec_receive_frame(context_, frame_);
      if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF) return {};
      if (ret < 0)
        return fail(Code::file_invalid, "the video data cannot be decoded: {}", av_text(ret));
      const Status status = hand_over(sink);
      av_frame_unref(frame_);
      ANYNPU_TRY(status);
    }
  }

  // Narrow 4:2:0 of eight bits as it is, everything else as NV12.
  Result<const AVFrame*> as_420() {
    if (frame_->format == AV_PIX_FMT_YUV420P) return static_cast<const AVFrame*>(frame_);
    const AVPixFmtDescriptor* desc =
        av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame_->format));
    if (desc == nullptr || (desc->flags & AV_PIX_FMT_FLAG_RGB) || desc->comp[0].depth > 10)
      return fail(Code::unsupported_feature,
                  "the video has the pixel format {}; expected YUV of at most 10 bits",
                  desc != nullptr ? desc->name : "unknown");
    return scaler_.convert(*frame_);
  }

  Status hand_over(const FrameSink& sink) {
    ANYNPU_ASSIGN(const AVFrame* picture, as_420());
    DecodedFrame frame;
    frame.id = static_cast<uint64_t>(frame_->pts);
    for (int i = 0; i < 3; ++i) {
      frame.plane[i] = picture->data[i];
      frame.stride[i] = static_cast<size_t>(picture->linesize[i]);
    }
    frame.width = static_cast<uint32_t>(picture->width);
    frame.height = static_cast<uint32_t>(picture->height);
    frame.type = frame_->pict_type == AV_PICTURE_TYPE_I   ? FrameType::i
                 : frame_->pict_type == AV_PICTURE_TYPE_B ? FrameType::b
                                                          : FrameType::p;
    frame.damaged = frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT);
    sink(frame);
    return {};
  }

  const VideoType type_;
  AVCodecContext* context_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* frame_ = nullptr;
  AVCodecParserContext* parser_ = nullptr;
  Nv12Scaler scaler_;
  int open_field_ = 0;  // the field whose other half is to come
};

class Cutter final : public PacketCutter {
 public:
  explicit Cutter(VideoType type) : type_(type) {
    const auto id = type == VideoType::h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC;
    parser_ = av_parser_init(id);
    // For the parser's results only: without a decoder's private data, which is large.
    context_ = avcodec_alloc_context3(nullptr);
    if (context_ != nullptr) context_->codec_id = id;
  }
  ~Cutter() override {
    av_parser_close(parser_);
    avcodec_free_context(&context_);
  }
  bool ready() const { return parser_ != nullptr && context_ != nullptr; }

  Status cut(Bytes bytes, const std::function<void(Bytes)>& unit) override {
    if (bytes.size() > kMostBytes)
      return fail(Code::file_invalid, "the piece of the stream has {} bytes; at most {} are taken",
                  bytes.size(), kMostBytes);
    // The parser reads a little beyond the end.
    std::vector<uint8_t> padded(bytes.begin(), bytes.end());
    padded.resize(bytes.size() + AV_INPUT_BUFFER_PADDING_SIZE);
    return parse(padded.data(), bytes.size(), unit);
  }
  Status finish(const std::function<void(Bytes)>& unit) override { return parse(nullptr, 0, unit); }

 private:
  Status parse(const uint8_t* data, size_t size, const std::function<void(Bytes)>& unit) {
    do {
      uint8_t* out = nullptr;
      int out_size = 0;
      const int used = av_parser_parse2(parser_, context_, &out, &out_size, data,
                                        static_cast<int>(size), AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
      if (used < 0) return fail(Code::file_invalid, "the stream cannot be cut into pictures");
      if (out_size > 0) unit({out, static_cast<size_t>(out_size)});
      if (size == 0) return {};
      data += used;
      size -= static_cast<size_t>(used);
    } while (size > 0);
    return {};
  }

  VideoType type_;
  AVCodecParserContext* parser_ = nullptr;
  AVCodecContext* context_ = nullptr;
};

}  // namespace

std::string av_text(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = "";
  av_strerror(error, text, sizeof text);
  return text;
}

Status no_memory() { return fail(Code::out_of_memory, "no memory left for a video codec"); }

PacketKind kind_of(Bytes packet, VideoType type) {
  PacketKind kind;
  for (const auto& [at, length] : find_nals(packet)) {
    if (length == 0) continue;
    const bool h264 = type == VideoType::h264;
    const int unit = h264 ? packet[at] & 31 : packet[at] >> 1 & 63;
    kind.has_picture |= h264 ? unit >= 1 && unit <= 5 : unit < 32;
    kind.has_parameters |= h264 ? unit >= 6 && unit <= 13 : unit >= 32 && unit <= 40;
  }
  return kind;
}

std::vector<std::pair<uint32_t, uint32_t>> find_nals(Bytes packet) {
  std::vector<std::pair<uint32_t, uint32_t>> nals;
  const size_t n = packet.size();
  size_t begin = n;
  for (size_t i = 0; i + 2 < n; ++i) {
    if (packet[i] != 0 || packet[i + 1] != 0 || packet[i + 2] != 1) continue;
    if (begin < n) {
      size_t end = i;
      if (end > begin && packet[end - 1] == 0) --end;  // a start code of four bytes
      nals.emplace_back(begin, end - begin);
    }
    begin = i + 3;
    i += 2;
  }
  if (begin < n) nals.emplace_back(begin, n - begin);
  return nals;
}

Result<std::unique_ptr<VideoDecoder>> open_decoder(VideoType type, uint32_t threads) {
  return Decoder::make(type, threads);
}

Result<std::unique_ptr<PacketCutter>> open_cutter(VideoType type) {
  auto cutter = std::make_unique<Cutter>(type);
  if (!cutter->ready()) return no_memory();
  return std::unique_ptr<PacketCutter>(std::move(cutter));
}

}  // namespace anynpu::media
