# SPDX-License-Identifier: Apache-2.0
"""`anynpu check`: runs a program with libanynpu_check.so preloaded and reports its mistakes."""
