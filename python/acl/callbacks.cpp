// SPDX-License-Identifier: Apache-2.0
// Python functions as C callbacks. A callback runs on the thread that C calls it from, with the
// GIL; an exception is printed there (sys.unraisablehook), as no caller could catch it.
#include <atomic>

#include "anynpu.h"
#include "wrappers.h"

namespace anynpu::pyacl {
namespace {

// A function or null (None and 0 remove a callback).
bool take_function(const ArgumentSource& at, PyObject* from, PyObject** to) {
  if (PyCallable_Check(from)) {
    *to = from;
    return true;
  }
  if (from != Py_None && !(PyLong_Check(from) && PyObject_Not(from) == 1))
    return fail_type(at, from, "a function");
  *to = nullptr;
  return true;
}

// One launched callback. Its references go when it has run; a callback whose stream drops it leaves
// them to the next moment at which the GIL is at hand.
struct Launched {
  PyObject* function;
  PyObject* user_data;
  Launched* next = nullptr;
};

void run_launched(void* user_data) {
  with_gil([user_data] {
    auto* launched = static_cast<Launched*>(user_data);
    Py_XDECREF(call_back(launched->function, Py_BuildValue("(O)", launched->user_data)));
    Py_CLEAR(launched->function);
    Py_CLEAR(launched->user_data);
  });
}

std::atomic<Launched*> dropped{nullptr};

int release_dropped(void*) {  // with the GIL
  Launched* launched = dropped.exchange(nullptr);
  while (launched != nullptr) {
    Launched* next = launched->next;
    Py_DECREF(launched->function);
    Py_DECREF(launched->user_data);
    delete launched;
    launched = next;
  }
  return 0;
}

// From any thread, perhaps with locks held: must not wait for the GIL.
void release_launched(void* user_data) {
  auto* launched = static_cast<Launched*>(user_data);
  if (launched->function == nullptr) {
    delete launched;
    return;
  }
  launched->next = dropped.load();
  while (!dropped.compare_exchange_weak(launched->next, launched)) {
  }
  if (Py_IsInitialized()) Py_AddPendingCall(release_dropped, nullptr);
}

// C keeps one callback for the whole process, without user data.
PyObject* exception_function = nullptr;
PyObject* dump_function = nullptr;

void run_exception_function(aclrtExceptionInfo* info) {
  with_gil([info] {
    PyObject* function = exception_function;
    if (function == nullptr) return;
    Py_INCREF(function);
    Py_XDECREF(call_back(function, Py_BuildValue("(N)", to_python(info))));
    Py_DECREF(function);
  });
}

PyObject* chunk_as_dict(const acldumpChunk& chunk) {
  DictWriter out;
  out.add("fileName", chunk.fileName);
  out.add("bufLen", chunk.bufLen);
  out.add("isLastChunk", chunk.isLastChunk);
  out.add("offset", chunk.offset);
  out.add("flag", chunk.flag);
  out.add("dataBuf",
          PyBytes_FromStringAndSize(reinterpret_cast<const char*>(chunk.dataBuf), chunk.bufLen));
  return out.finish();
}

int32_t run_dump_function(const acldumpChunk* chunk, int32_t length) {
  int32_t answer = -1;
  with_gil([&] {
    PyObject* function = dump_function;
    if (function == nullptr || chunk == nullptr) return;
    Py_INCREF(function);
    PyObject* result = call_back(function, Py_BuildValue("(Ni)", chunk_as_dict(*chunk), length));
    if (result != nullptr) answer = 0;
    if (result != nullptr && PyLong_Check(result)) {
      answer = static_cast<int32_t>(PyLong_AsLong(result));
      PyErr_Clear();
    }
    Py_XDECREF(result);
    Py_DECREF(function);
  });
  return answer;
}

void replace(PyObject** slot, PyObject* function) {
  Py_XINCREF(function);
  PyObject* old = std::exchange(*slot, function);
  Py_XDECREF(old);
}

}  // namespace

PyObject* rt_launch_callback(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_launch_callback;
  if (!self.takes(argc)) return nullptr;
  int32_t block_type{};
  void* stream{};
  if (!PyCallable_Check(argv[0])) {
    fail_type({self, 0, "fn"}, argv[0], "a function");
    return nullptr;
  }
  if (!take({self, 2, "block_type"}, argv[2], &block_type) ||
      !take({self, 3, "stream"}, argv[3], &stream))
    return nullptr;
  release_dropped(nullptr);
  auto* launched = new (std::nothrow) Launched{argv[0], argv[1]};
  if (launched == nullptr) return PyErr_NoMemory();
  Py_INCREF(launched->function);
  Py_INCREF(launched->user_data);
  const int ret =
      anynpu_acl_launch_callback(run_launched, launched, release_launched, block_type, stream);
  if (ret != ACL_SUCCESS) release_dropped(nullptr);
  return give(ret);
}

PyObject* rt_set_exception_info_callback(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_set_exception_info_callback;
  if (!self.takes(argc)) return nullptr;
  PyObject* function = nullptr;
  if (!take_function({self, 0, "fn"}, argv[0], &function)) return nullptr;
  const aclError ret =
      aclrtSetExceptionInfoCallback(function != nullptr ? run_exception_function : nullptr);
  if (ret == ACL_SUCCESS) replace(&exception_function, function);
  return give(ret);
}

PyObject* mdl_dump_reg_callback(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::mdl_dump_reg_callback;
  if (!self.takes(argc)) return nullptr;
  PyObject* function = nullptr;
  int32_t flag{};
  if (!take_function({self, 0, "callback"}, argv[0], &function) ||
      !take({self, 1, "flag"}, argv[1], &flag))
    return nullptr;
  const aclError ret = acldumpRegCallback(function != nullptr ? run_dump_function : nullptr, flag);
  if (ret == ACL_SUCCESS) replace(&dump_function, function);
  return give(ret);
}

}  // namespace anynpu::pyacl
