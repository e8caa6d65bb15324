/* SPDX-License-Identifier: Apache-2.0 */
/* libtracer_stc.so: build files of users name it beside libprofiler_stc.so. Everything it would do
 * is done there, so it holds this version alone. */
__attribute__((visibility("default"))) const char anynpu_tracer_stc_version[] = "0.1.0";
