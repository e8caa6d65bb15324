// SPDX-License-Identifier: Apache-2.0
// Settings of a decoder channel.
#include "media/support.h"
#include "service/media/vdec_channel.h"

namespace anynpu::media {

void VdecChannel::add_sink(int32_t key, Sink sink) {
  const std::lock_guard lock(mutex_);
  sinks_[key] = std::move(sink);
}

bool VdecChannel::remove_sink(int32_t key) {
  const std::lock_guard lock(mutex_);
  return sinks_.erase(key) > 0;
}

VdecAttr VdecChannel::attr() { return attr_; }

Status VdecChannel::set_attr(const VdecAttr& changed) {
  if (changed.codec != attr_.codec || changed.mode != attr_.mode)
    return fail(Code::bad_call_order, "type and mode of a channel cannot be changed");
  if (started_)
    return fail(Code::bad_call_order, "the channel receives; call vdec_stop_recv_stream first");
  ANYNPU_TRY(stream_->synchronize());
  attr_ = changed;
  return open_session();
}

VdecParam VdecChannel::param() {
  const std::lock_guard lock(mutex_);
  return param_;
}

Status VdecChannel::set_param(const VdecParam& changed) {
  if (changed.display_frames > 16)
    return fail(Code::invalid_argument, "display_frame_num is {}; expected 0 to 16",
                changed.display_frames);
  if (changed.alpha > 255)
    return fail(Code::invalid_argument, "pic_param.alpha is {}; expected 0 to 255", changed.alpha);
  if (changed.frames < VdecParam::all || changed.frames > VdecParam::only_i ||
      changed.order < VdecParam::by_display || changed.order > VdecParam::by_decoding)
    return fail(Code::invalid_argument,
                "dec_mode is {} and out_order {}; expected 0 to 2, and 0 or 1", changed.frames,
                changed.order);
  const std::lock_guard lock(mutex_);
  param_ = changed;
  return {};
}

Record VdecChannel::protocol() {
  const std::lock_guard lock(mutex_);
  return protocol_;
}

void VdecChannel::set_protocol(Record protocol) {
  warn_without_effect("VDEC", "protocol_param");
  const std::lock_guard lock(mutex_);
  protocol_ = std::move(protocol);
}

int32_t VdecChannel::display_mode() {
  const std::lock_guard lock(mutex_);
  return display_mode_;
}

Status VdecChannel::set_display_mode(int32_t mode) {
  if (mode != 0 && mode != 1)
    return fail(Code::invalid_argument, "the mode is {}; expected 0 or 1", mode);
  if (mode != 0) warn_without_effect("VDEC", "display_mode");
  const std::lock_guard lock(mutex_);
  display_mode_ = mode;
  return {};
}

Status VdecChannel::set_jpeg_precision(int32_t mode) {
  if (!is_jpeg()) return fail(Code::bad_call_order, "the channel decodes video, not JPEG pictures");
  if (mode < 0 || mode > 2)
    return fail(Code::invalid_argument, "the mode is {}; expected 0 to 2", mode);
  if (mode != 0) warn_without_effect("JPEGD", "the precision mode");
  return {};
}

}  // namespace anynpu::media
