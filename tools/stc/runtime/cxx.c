// SPDX-License-Identifier: Apache-2.0
// What C++ objects with virtual functions and static lifetime refer to. There is no heap: deleting
// aborts. Destructors of static objects do not run, kernels come and go.
void abort(void);

void* __dso_handle = 0;
void __cxa_pure_virtual(void) { abort(); }
void __cxa_deleted_virtual(void) { abort(); }
int __cxa_atexit(void (*function)(void*), void* object, void* library) { return 0; }
void _ZdlPv(void* object) { abort(); }                   // operator delete(void*)
void _ZdlPvj(void* object, unsigned bytes) { abort(); }  // operator delete(void*, size_t)
