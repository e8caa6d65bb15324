// SPDX-License-Identifier: Apache-2.0
// Allocators in Python. C hands the alloc and free functions the allocator object of the
// description, and the address function a block alone; so the object given to C is our Allocator
// record, and every block is a Block that knows its record. Python sees its own numbers.
#include <map>
#include <memory>

#include "wrappers.h"

namespace anynpu::pyacl {
namespace {

// What one description collects. Guarded by the GIL. Shared by the description and by the streams
// it is registered for; a registration may outlive its description.
struct Allocator {
  PyObject* alloc = nullptr;
  PyObject* advise = nullptr;
  PyObject* free = nullptr;
  PyObject* address = nullptr;
  void* object = nullptr;

  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  ~Allocator() {
    for (PyObject* function : {alloc, advise, free, address}) Py_XDECREF(function);
  }
};

struct Block {
  Allocator* owner;
  void* python;  // what the alloc function returned
};

using Allocators = std::map<void*, std::shared_ptr<Allocator>>;
Allocators& by_description() {
  static auto* all = new Allocators();
  return *all;
}
Allocators& by_stream() {
  static auto* all = new Allocators();
  return *all;
}

// The int that a callback returned; takes the reference. Other results count as failure.
void* as_address(PyObject* function, PyObject* result) {
  if (result == nullptr) return nullptr;
  void* address = nullptr;
  if (result != Py_None) {
    address = PyLong_AsVoidPtr(result);
    if (PyErr_Occurred()) {
      PyErr_WriteUnraisable(function);
      address = nullptr;
    }
  }
  Py_DECREF(result);
  return address;
}

void* new_block(Allocator* owner, void* python) {
  return python != nullptr ? new (std::nothrow) Block{owner, python} : nullptr;
}

void* run_alloc(void* allocator, size_t size) {
  void* block = nullptr;
  with_gil([&] {
    auto* self = static_cast<Allocator*>(allocator);
    if (self == nullptr || self->alloc == nullptr) return;
    PyObject* arguments = Py_BuildValue("(NN)", to_python(self->object), to_python(size));
    block = new_block(self, as_address(self->alloc, call_back(self->alloc, arguments)));
  });
  return block;
}

void* run_advise(void* allocator, size_t size, void* hint) {
  void* block = nullptr;
  with_gil([&] {
    auto* self = static_cast<Allocator*>(allocator);
    if (self == nullptr || self->advise == nullptr) return;
    PyObject* arguments =
        Py_BuildValue("(NNN)", to_python(self->object), to_python(size), to_python(hint));
    block = new_block(self, as_address(self->advise, call_back(self->advise, arguments)));
  });
  return block;
}

void run_free(void* allocator, void* block) {
  with_gil([&] {
    auto* self = static_cast<Allocator*>(allocator);
    auto* mine = static_cast<Block*>(block);
    if (self == nullptr || mine == nullptr) return;
    if (self->free != nullptr) {
      PyObject* arguments = Py_BuildValue("(NN)", to_python(self->object), to_python(mine->python));
      Py_XDECREF(call_back(self->free, arguments));
    }
    delete mine;
  });
}

void* run_address(void* block) {
  void* address = nullptr;
  with_gil([&] {
    auto* mine = static_cast<Block*>(block);
    if (mine == nullptr || mine->owner->address == nullptr) return;
    PyObject* function = mine->owner->address;
    address =
        as_address(function, call_back(function, Py_BuildValue("(N)", to_python(mine->python))));
  });
  return address;
}

std::shared_ptr<Allocator>& record_of(void* description) {
  auto& record = by_description()[description];
  if (!record) record = std::make_shared<Allocator>();
  return record;
}

// The four functions that give a description one of its callbacks: (allocator_desc, func) -> ret.
template <typename CFunction>
PyObject* set_function(const Function& self, PyObject* const* argv, Py_ssize_t argc,
                       PyObject* Allocator::*slot, CFunction trampoline,
                       aclError (*set)(aclrtAllocatorDesc, CFunction)) {
  if (!self.takes(argc)) return nullptr;
  void* description{};
  if (!take({self, 0, "allocator_desc"}, argv[0], &description)) return nullptr;
  if (!PyCallable_Check(argv[1])) {
    fail_type({self, 1, "func"}, argv[1], "a function");
    return nullptr;
  }
  const aclError ret = set(description, trampoline);
  if (ret != ACL_SUCCESS) return give(ret);
  Py_INCREF(argv[1]);
  PyObject* old = std::exchange((*record_of(description)).*slot, argv[1]);
  Py_XDECREF(old);
  return give(ret);
}

}  // namespace

PyObject* rt_allocator_set_alloc_func_to_desc(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_function<aclrtAllocatorAllocFunc>(functions::rt_allocator_set_alloc_func_to_desc, argv,
                                               argc, &Allocator::alloc, run_alloc,
                                               aclrtAllocatorSetAllocFuncToDesc);
}

PyObject* rt_allocator_set_alloc_advise_func_to_desc(PyObject*, PyObject* const* argv,
                                                     Py_ssize_t argc) {
  return set_function<aclrtAllocatorAllocAdviseFunc>(
      functions::rt_allocator_set_alloc_advise_func_to_desc, argv, argc, &Allocator::advise,
      run_advise, aclrtAllocatorSetAllocAdviseFuncToDesc);
}

PyObject* rt_allocator_set_free_func_to_desc(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_function<aclrtAllocatorFreeFunc>(functions::rt_allocator_set_free_func_to_desc, argv,
                                              argc, &Allocator::free, run_free,
                                              aclrtAllocatorSetFreeFuncToDesc);
}

PyObject* rt_allocator_set_get_addr_from_block_func_to_desc(PyObject*, PyObject* const* argv,
                                                            Py_ssize_t argc) {
  return set_function<aclrtAllocatorGetAddrFromBlockFunc>(
      functions::rt_allocator_set_get_addr_from_block_func_to_desc, argv, argc, &Allocator::address,
      run_address, aclrtAllocatorSetGetAddrFromBlockFuncToDesc);
}

PyObject* rt_allocator_set_obj_to_desc(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_allocator_set_obj_to_desc;
  if (!self.takes(argc)) return nullptr;
  void* description{};
  void* object{};
  if (!take({self, 0, "allocator_desc"}, argv[0], &description) ||
      !take({self, 1, "allocator"}, argv[1], &object))
    return nullptr;
  auto record = std::make_shared<Allocator>();
  const auto known = by_description().find(description);
  if (known != by_description().end()) record = known->second;
  const aclError ret = aclrtAllocatorSetObjToDesc(description, record.get());
  if (ret != ACL_SUCCESS) return give(ret);
  record->object = object;
  by_description()[description] = record;
  return give(ret);
}

PyObject* rt_allocator_register(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_allocator_register;
  if (!self.takes(argc)) return nullptr;
  void* stream{};
  void* description{};
  if (!take({self, 0, "stream"}, argv[0], &stream) ||
      !take({self, 1, "allocator_desc"}, argv[1], &description))
    return nullptr;
  const aclError ret = aclrtAllocatorRegister(stream, description);
  const auto known = by_description().find(description);
  if (ret == ACL_SUCCESS && known != by_description().end()) by_stream()[stream] = known->second;
  return give(ret);
}

PyObject* rt_allocator_unregister(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_allocator_unregister;
  if (!self.takes(argc)) return nullptr;
  void* stream{};
  if (!take({self, 0, "stream"}, argv[0], &stream)) return nullptr;
  const aclError ret = aclrtAllocatorUnregister(stream);
  if (ret == ACL_SUCCESS) by_stream().erase(stream);
  return give(ret);
}

PyObject* rt_allocator_destroy_desc(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_allocator_destroy_desc;
  if (!self.takes(argc)) return nullptr;
  void* description{};
  if (!take({self, 0, "allocator_desc"}, argv[0], &description)) return nullptr;
  const aclError ret = aclrtAllocatorDestroyDesc(description);
  if (ret == ACL_SUCCESS) by_description().erase(description);
  return give(ret);
}

}  // namespace anynpu::pyacl
