/* SPDX-License-Identifier: Apache-2.0
 * Strings and memory on the device. memcpy is in npurt.h: it copies between memories. */
#pragma once
#include <npurt.h>

NPURT_C void* memset(void* to, int value, size_t bytes);
NPURT_C void* memmove(void* to, const void* from, size_t bytes);
NPURT_C int memcmp(const void* a, const void* b, size_t bytes);
NPURT_C size_t strlen(const char* text);
NPURT_C int strcmp(const char* a, const char* b);
NPURT_C int strncmp(const char* a, const char* b, size_t count);
NPURT_C char* strcpy(char* to, const char* from);
NPURT_C char* strncpy(char* to, const char* from, size_t count);
NPURT_C char* strcat(char* to, const char* from);
NPURT_C char* strchr(const char* text, int character);
