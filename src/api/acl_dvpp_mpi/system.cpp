// SPDX-License-Identifier: Apache-2.0
// Start and end, memory, epoll (acl.himpi.sys_*, dvpp_*).
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/acl_dvpp_mpi/mpi.h"
#include "media/image.h"

namespace anynpu::mpi {
namespace {

std::atomic<bool> running{false};

struct Row {
  Code code;
  uint32_t number;
};
constexpr Row kNumbers[] = {
    {Code::invalid_device, 2},   {Code::invalid_argument, 3}, {Code::unaligned_address, 3},
    {Code::shape_mismatch, 3},   {Code::file_invalid, 3},     {Code::already_exists, 4},
    {Code::not_found, 5},        {Code::invalid_handle, 6},   {Code::bad_call_order, 9},
    {Code::out_of_memory, 12},   {Code::not_complete, 14},    {Code::timeout, 14},
    {Code::limit_exceeded, 15},  {Code::not_initialized, 16}, {Code::no_context, 16},
    {Code::invalid_address, 17},
};

}  // namespace

hi_s32 number_of(Module module, Code code) {
  if (code == Code::unsupported_feature) return ACL_ERROR_FEATURE_UNSUPPORTED;
  uint32_t number = 21;  // a system error
  for (const Row& row : kNumbers)
    if (row.code == code) number = row.number;
  // The system itself has no numbers for devices and addresses.
  if (module == Module::sys && (number == 2 || number == 17)) number = 3;
  return static_cast<hi_s32>(0xA0008000u | static_cast<uint32_t>(module) << 16 | number);
}

Status check_system() {
  if (running) return {};
  return fail(Code::not_initialized, "the media system is not started; call hi_mpi_sys_init first");
}

void set_system(bool now) { running = now; }

Result<OwnStream> OwnStream::make() {
  OwnStream made;
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  ANYNPU_ASSIGN(made.handle_, context->create_stream({}));
  ANYNPU_ASSIGN(made.stream_, device::Runtime::instance().stream(made.handle_));
  return made;
}

OwnStream::~OwnStream() {
  if (handle_ != 0)
    (void)device::Runtime::instance().destroy_stream(handle_, device::Stream::Close::drain);
}

Signal::~Signal() { close(); }

Result<hi_s32> Signal::fd() {
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd_ < 0) return fail(Code::internal, "no file descriptor: {}", std::strerror(errno));
  if (wanted_ && !readable_) {
    eventfd_write(fd_, 1);
    readable_ = true;
  }
  return fd_;
}

void Signal::close() {
  const std::lock_guard lock(mutex_);
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  readable_ = false;
}

void Signal::set(bool readable) {
  const std::lock_guard lock(mutex_);
  wanted_ = readable;
  if (fd_ < 0 || readable == readable_) return;
  eventfd_t value;
  if (readable)
    eventfd_write(fd_, 1);
  else
    eventfd_read(fd_, &value);
  readable_ = readable;
}

}  // namespace anynpu::mpi

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

Status io(const char* what) {
  return fail(errno == EEXIST ? Code::already_exists : Code::invalid_argument, "{}: {}", what,
              std::strerror(errno));
}

// IN and edge triggering have the kernel's numbers, OUT does not.
uint32_t to_kernel(uint32_t events) {
  return (events & (HI_DVPP_EPOLL_IN | HI_DVPP_EPOLL_ET)) |
         (events & HI_DVPP_EPOLL_OUT ? uint32_t{EPOLLOUT} : 0);
}
uint32_t from_kernel(uint32_t events) {
  return (events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? HI_DVPP_EPOLL_IN : 0) |
         (events & EPOLLOUT ? HI_DVPP_EPOLL_OUT : 0);
}

}  // namespace

hi_s32 hi_mpi_sys_init(void) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys, []() -> Status {
    ANYNPU_TRY(device::Runtime::instance().current().status());
    ANYNPU_TRY(media::check_support(media::Unit::vpc, media::Version::v2));
    static const bool once = [] {
      acl::on_finalize([] { (void)hi_mpi_sys_exit(); });
      return true;
    }();
    (void)once;
    set_system(true);
    return {};
  });
}

hi_s32 hi_mpi_sys_exit(void) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys, []() -> Status {
    close_vpc();
    close_vdec();
    close_venc();
    close_pngd();
    set_system(false);
    return {};
  });
}

hi_s32 hi_mpi_dvpp_get_version(hi_u32* major_version, hi_u32* minor_version,
                               hi_u32* patch_version) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_pointer(major_version, "major_version"));
    ANYNPU_TRY(check_pointer(minor_version, "minor_version"));
    ANYNPU_TRY(check_pointer(patch_version, "patch_version"));
    *major_version = 1;
    *minor_version = *patch_version = 0;
    return {};
  });
}

hi_s32 hi_mpi_dvpp_malloc(hi_u32 dev_id, hi_void** dev_ptr, hi_u64 size) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dev_ptr, "dev_ptr"));
    ANYNPU_ASSIGN(auto device,
                  device::Runtime::instance().device(static_cast<int32_t>(dev_id & INT32_MAX)));
    device::AllocateOptions options;
    options.alignment = 128;
    ANYNPU_ASSIGN(*dev_ptr, device::allocate_device(*device, size, options));
    return {};
  });
}

hi_s32 hi_mpi_dvpp_free(hi_void* dev_ptr) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys,
                                    [&] { return device::free_device(dev_ptr); });
}

hi_s32 hi_mpi_dvpp_get_image_info(hi_payload_type img_type, const hi_vdec_stream* stream,
                                  hi_img_info* img_info) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_pointer(stream, "stream"));
    return describe_file(img_type, stream->addr, stream->len, img_info);
  });
}

Status anynpu::mpi::describe_file(hi_payload_type img_type, const hi_u8* data, hi_u32 bytes,
                                  hi_img_info* img_info) {
  ANYNPU_TRY(check_pointer(img_info, "img_info"));
  if (img_type != HI_PT_JPEG && img_type != HI_PT_PNG)
    return fail(Code::invalid_argument, "the type is {}; expected {} (JPEG) or {} (PNG)", img_type,
                HI_PT_JPEG, HI_PT_PNG);
  ANYNPU_ASSIGN(auto file, device::check_range(data, bytes, device::Access::read, "the file"));
  media::PictureSpec spec;
  spec.format = pixel::kUnknown;
  *img_info = {};
  if (img_type == HI_PT_JPEG) {
    ANYNPU_ASSIGN(const auto info, media::jpeg_info({file.address, file.bytes}));
    ANYNPU_TRY(complete_jpeg_output(info, &spec));
    constexpr hi_jpeg_raw_format raw[] = {HI_JPEG_RAW_FORMAT_YUV444, HI_JPEG_RAW_FORMAT_YUV422,
                                          HI_JPEG_RAW_FORMAT_YUV420, HI_JPEG_RAW_FORMAT_YUV400,
                                          HI_JPEG_RAW_FORMAT_YUV440, HI_JPEG_RAW_FORMAT_YUV411};
    const auto sampling = static_cast<uint32_t>(info.sampling);
    img_info->pixel_format = sampling < 6 ? raw[sampling] : HI_JPEG_RAW_FORMAT_MAX;
  } else {
    ANYNPU_ASSIGN(const auto info, media::png_info({file.address, file.bytes}));
    ANYNPU_TRY(complete_png_output(info, &spec));
    img_info->png_pixel_format = static_cast<hi_png_color_format>(info.color_type);
  }
  img_info->width = spec.width;
  img_info->height = spec.height;
  img_info->width_stride = spec.width_stride;
  img_info->height_stride = spec.height_stride;
  img_info->img_pixel_format = static_cast<hi_pixel_format>(spec.format);
  img_info->img_buf_size = static_cast<hi_u32>(pixel::picture_bytes(
      *pixel::find_format(spec.format), spec.width_stride, spec.height_stride));
  return {};
}

hi_s32 hi_mpi_sys_create_epoll(hi_s32 size, hi_s32* epoll_fd) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_pointer(epoll_fd, "epoll_fd"));
    if (size <= 0)
      return fail(Code::invalid_argument, "the size is {}; expected more than 0", size);
    *epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return *epoll_fd >= 0 ? Status() : io("no epoll can be made");
  });
}

hi_s32 hi_mpi_sys_ctl_epoll(hi_s32 epoll_fd, hi_s32 operation, hi_s32 fd,
                            hi_dvpp_epoll_event* event) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    constexpr int kernel[] = {0, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
    if (operation < HI_DVPP_EPOLL_CTL_ADD || operation > HI_DVPP_EPOLL_CTL_DEL)
      return fail(Code::invalid_argument,
                  "the operation is {}; expected 1 (add), 2 (modify) or 3 "
                  "(delete)",
                  operation);
    if (operation != HI_DVPP_EPOLL_CTL_DEL) ANYNPU_TRY(check_pointer(event, "event"));
    epoll_event wanted{};
    if (event != nullptr) {
      wanted.events = to_kernel(event->events);
      wanted.data.ptr = event->data;
    }
    return epoll_ctl(epoll_fd, kernel[operation], fd, &wanted) == 0 ? Status() : io("epoll");
  });
}

hi_s32 hi_mpi_sys_wait_epoll(hi_s32 epoll_fd, hi_dvpp_epoll_event* events, hi_s32 max_events,
                             hi_s32 timeout, hi_s32* event_count) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_pointer(events, "events"));
    ANYNPU_TRY(check_pointer(event_count, "event_count"));
    if (max_events <= 0 || max_events > 4096 || timeout < -1)
      return fail(Code::invalid_argument,
                  "{} events within {} ms were asked for; expected 1 to 4096 events and -1 (for "
                  "ever) or more",
                  max_events, timeout);
    std::vector<epoll_event> found(static_cast<size_t>(max_events));
    const Deadline deadline = Deadline::after_ms(timeout);
    for (;;) {
      const int turn = timeout == 0 ? 0 : 50;
      const int count = epoll_wait(epoll_fd, found.data(), max_events, turn);
      if (count < 0 && errno != EINTR) return io("epoll");
      *event_count = std::max(count, 0);
      if (count > 0 || timeout == 0 || deadline.passed()) break;
      if (interrupted()) return fail(Code::cancelled, "the wait was interrupted");
    }
    for (hi_s32 i = 0; i < *event_count; ++i)
      events[i] = {from_kernel(found[i].events), found[i].data.ptr};
    return {};
  });
}

hi_s32 hi_mpi_sys_close_epoll(hi_s32 epoll_fd) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys, [&]() -> Status {
    epoll_event probe;
    if (epoll_wait(epoll_fd, &probe, 1, 0) < 0) return io("no epoll");
    return close(epoll_fd) == 0 ? Status() : io("epoll");
  });
}
