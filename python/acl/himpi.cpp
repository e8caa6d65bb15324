// SPDX-License-Identifier: Apache-2.0
// Functions of acl.himpi whose arguments cannot be generated.
#include "wrappers.h"

namespace anynpu::pyacl {

PyObject* himpi_sys_wait_epoll(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::himpi_sys_wait_epoll;
  int32_t epoll_fd{}, max_events{}, timeout{};
  if (!self.takes(argc) || !take({self, 0, "epoll_fd"}, argv[0], &epoll_fd) ||
      !take({self, 1, "max_events"}, argv[1], &max_events) ||
      !take({self, 2, "timeout"}, argv[2], &timeout))
    return nullptr;
  List<hi_dvpp_epoll_event> events;
  constexpr int32_t most = 4096;
  if (!events.resize(max_events > 0 && max_events <= most ? static_cast<size_t>(max_events) : 1))
    return nullptr;
  int32_t event_count{};
  const auto ret = without_gil([&] {
    return static_cast<uint32_t>(
        hi_mpi_sys_wait_epoll(epoll_fd, events.data(), max_events, timeout, &event_count));
  });
  if (PyErr_Occurred()) return nullptr;
  return give(events.first(static_cast<size_t>(event_count)), event_count, ret);
}

// The attributes as a dict, or as a list of its values as the guide writes it.
PyObject* himpi_vdec_get_pic_buf_size(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::himpi_vdec_get_pic_buf_size;
  int32_t type{};
  if (!self.takes(argc) || !take({self, 0, "type"}, argv[0], &type)) return nullptr;
  hi_pic_buf_attr attr{};
  Scratch scratch;
  if (PyDict_Check(argv[1])) {
    if (!take({self, 1, "buf_attr", &scratch}, argv[1], &attr)) return nullptr;
  } else {
    List<uint32_t> values;
    if (!take({self, 1, "buf_attr"}, argv[1], &values) ||
        !has_items(self, "buf_attr", values.size(), 6))
      return nullptr;
    const uint32_t* v = values.data();
    attr = {v[0],
            v[1],
            v[2],
            static_cast<hi_data_bit_width>(v[3]),
            static_cast<hi_pixel_format>(v[4]),
            static_cast<hi_compress_mode>(v[5])};
  }
  return give(hi_vdec_get_pic_buf_size(static_cast<hi_payload_type>(type), &attr));
}

// The rate control of the channel says which member of the union counts.
PyObject* himpi_venc_set_rc_param(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::himpi_venc_set_rc_param;
  int32_t chn{};
  if (!self.takes(argc) || !take({self, 0, "chn"}, argv[0], &chn)) return nullptr;
  hi_venc_chn_attr attr{};
  Scratch scratch;
  ArgumentSource at{self, 1, "rc_param", &scratch};
  if (hi_mpi_venc_get_chn_attr(chn, &attr) == 0) at.selected = attr.rc_attr.rc_mode;
  hi_venc_rc_param rc_param{};
  if (!take(at, argv[1], &rc_param)) return nullptr;
  return give(static_cast<uint32_t>(hi_mpi_venc_set_rc_param(chn, &rc_param)));
}

PyObject* himpi_venc_get_stream(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::himpi_venc_get_stream;
  int32_t chn{}, milli_sec{};
  uint32_t packs{};
  Scratch scratch;
  const ArgumentSource at{self, 1, "stream", &scratch};
  if (!self.takes(argc) || !take({self, 0, "chn"}, argv[0], &chn)) return nullptr;
  const DictReader given(at, argv[1]);
  if (!given.is_dict() || !given.read("pack_cnt", &packs) ||
      !take({self, 2, "milli_sec"}, argv[2], &milli_sec))
    return nullptr;
  List<hi_venc_pack> room;
  constexpr uint32_t most = 4096;
  if (!room.reserve(self, "pack_cnt", packs, most)) return nullptr;
  hi_venc_stream stream{};
  stream.pack = room.data();
  stream.pack_cnt = packs;
  const auto ret = without_gil(
      [&] { return static_cast<uint32_t>(hi_mpi_venc_get_stream(chn, &stream, milli_sec)); });
  if (PyErr_Occurred()) return nullptr;
  if (ret != 0) stream.pack_cnt = 0;
  return give(stream, ret);
}

}  // namespace anynpu::pyacl
