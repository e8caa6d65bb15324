// SPDX-License-Identifier: Apache-2.0
// A library without functions: stands in for one of NVIDIA's that is not there.
