// SPDX-License-Identifier: Apache-2.0
// Strings and memory. Compilers call memcpy, memmove, memset and memcmp on their own.
#include <stddef.h>
#include <stdint.h>

#undef memcpy

void* memcpy(void* to, const void* from, size_t bytes) {
  char* t = to;
  const char* f = from;
  if ((((uintptr_t)t | (uintptr_t)f) & 3) == 0) {
    for (; bytes >= 4; bytes -= 4, t += 4, f += 4) *(uint32_t*)t = *(const uint32_t*)f;
  }
  while (bytes-- > 0) *t++ = *f++;
  return to;
}

void* memmove(void* to, const void* from, size_t bytes) {
  char* t = to;
  const char* f = from;
  if ((uintptr_t)t - (uintptr_t)f >= bytes) return memcpy(to, from, bytes);
  while (bytes-- > 0) t[bytes] = f[bytes];
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  char* t = to;
  const uint32_t word = (uint8_t)value * 0x01010101u;
  for (; bytes > 0 && ((uintptr_t)t & 3) != 0; --bytes) *t++ = (char)value;
  for (; bytes >= 4; bytes -= 4, t += 4) *(uint32_t*)t = word;
  while (bytes-- > 0) *t++ = (char)value;
  return to;
}

int memcmp(const void* a, const void* b, size_t bytes) {
  const uint8_t *x = a, *y = b;
  for (; bytes > 0; --bytes, ++x, ++y) {
    if (*x != *y) return *x - *y;
  }
  return 0;
}
int bcmp(const void* a, const void* b, size_t bytes) { return memcmp(a, b, bytes); }

size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length]) ++length;
  return length;
}

int strcmp(const char* a, const char* b) {
  for (; *a && *a == *b; ++a, ++b) {
  }
  return (uint8_t)*a - (uint8_t)*b;
}

int strncmp(const char* a, const char* b, size_t count) {
  for (; count > 0 && *a && *a == *b; --count, ++a, ++b) {
  }
  return count == 0 ? 0 : (uint8_t)*a - (uint8_t)*b;
}

char* strcpy(char* to, const char* from) {
  char* t = to;
  while ((*t++ = *from++)) {
  }
  return to;
}

char* strncpy(char* to, const char* from, size_t count) {
  size_t i = 0;
  for (; i < count && from[i]; ++i) to[i] = from[i];
  for (; i < count; ++i) to[i] = 0;
  return to;
}

char* strcat(char* to, const char* from) {
  strcpy(to + strlen(to), from);
  return to;
}

char* strchr(const char* text, int character) {
  for (;; ++text) {
    if (*text == (char)character) return (char*)text;
    if (!*text) return NULL;
  }
}
