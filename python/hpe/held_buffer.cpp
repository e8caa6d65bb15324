// SPDX-License-Identifier: Apache-2.0
#include "hpe/held_buffer.h"

#include <atomic>
#include <new>

namespace anynpu::pyhpe {

namespace {
std::atomic<HeldBuffer*> finished_list{nullptr};
}

HeldBuffer* HeldBuffer::hold(PyObject* object, int access) {
  auto* held = new (std::nothrow) HeldBuffer;
  if (held == nullptr) {
    PyErr_NoMemory();
    return nullptr;
  }
  if (PyObject_GetBuffer(object, &held->view_, PyBUF_C_CONTIGUOUS | access) != 0) {
    delete held;
    return nullptr;
  }
  return held;
}

void HeldBuffer::release(HeldBuffer* held) {
  PyBuffer_Release(&held->view_);
  delete held;
}

void HeldBuffer::finished(void* data) {
  auto* held = static_cast<HeldBuffer*>(data);
  held->next_ = finished_list.load(std::memory_order_relaxed);
  while (!finished_list.compare_exchange_weak(held->next_, held, std::memory_order_release,
                                              std::memory_order_relaxed)) {
  }
}

void release_finished_buffers() {
  if (finished_list.load(std::memory_order_relaxed) == nullptr) return;
  HeldBuffer* held = finished_list.exchange(nullptr, std::memory_order_acquire);
  while (held != nullptr) {
    HeldBuffer* next = held->next_;
    HeldBuffer::release(held);
    held = next;
  }
}

}  // namespace anynpu::pyhpe
