// SPDX-License-Identifier: Apache-2.0
// Descriptions of pictures and of pieces of video (acl.media.dvpp_set_pic_desc_* and similar).
#include "api/acl_dvpp/objects.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::PacketDesc;
using media::PictureDesc;

acldvppPicDesc* acldvppCreatePicDesc(void) {
  return create<acldvppPicDesc*, PictureDesc>(__func__);
}

aclError acldvppDestroyPicDesc(acldvppPicDesc* picDesc) {
  return enter<When::before_init>(__func__,
                                  [&] { return media::destroy_picture(to_handle(picDesc)); });
}

aclError acldvppSetPicDescData(acldvppPicDesc* picDesc, void* dataDev) {
  return set<PictureDesc>(__func__, picDesc, &PictureDesc::data, dataDev);
}

aclError acldvppSetPicDescSize(acldvppPicDesc* picDesc, uint32_t size) {
  return set<PictureDesc>(__func__, picDesc, &PictureDesc::bytes, size);
}

aclError acldvppSetPicDescFormat(acldvppPicDesc* picDesc, acldvppPixelFormat format) {
  return set<PictureDesc>(__func__, picDesc, &PictureDesc::format, format);
}

aclError acldvppSetPicDescWidth(acldvppPicDesc* picDesc, uint32_t width) {
  return set<PictureDesc>(__func__, picDesc, &PictureDesc::width, width);
}

aclError acldvppSetPicDescHeight(acldvppPicDesc* picDesc, uint32_t height) {
  return set<PictureDesc>(__func__, picDesc, &PictureDesc::height, height);
}

aclError acldvppSetPicDescWidthStride(acldvppPicDesc* picDesc, uint32_t widthStride) {
  return set<PictureDesc>(__func__, picDesc, &PictureDesc::width_stride, widthStride);
}

aclError acldvppSetPicDescHeightStride(acldvppPicDesc* picDesc, uint32_t heightStride) {
  return set<PictureDesc>(__func__, picDesc, &PictureDesc::height_stride, heightStride);
}

aclError acldvppSetPicDescRetCode(acldvppPicDesc* picDesc, uint32_t retCode) {
  return set<PictureDesc>(__func__, picDesc, &PictureDesc::ret_code, retCode);
}

void* acldvppGetPicDescData(const acldvppPicDesc* picDesc) {
  return get<PictureDesc, void*>(__func__, picDesc, &PictureDesc::data);
}

uint32_t acldvppGetPicDescSize(const acldvppPicDesc* picDesc) {
  return get<PictureDesc, uint32_t>(__func__, picDesc, &PictureDesc::bytes);
}

acldvppPixelFormat acldvppGetPicDescFormat(const acldvppPicDesc* picDesc) {
  return get<PictureDesc, acldvppPixelFormat>(__func__, picDesc, &PictureDesc::format);
}

uint32_t acldvppGetPicDescWidth(const acldvppPicDesc* picDesc) {
  return get<PictureDesc, uint32_t>(__func__, picDesc, &PictureDesc::width);
}

uint32_t acldvppGetPicDescHeight(const acldvppPicDesc* picDesc) {
  return get<PictureDesc, uint32_t>(__func__, picDesc, &PictureDesc::height);
}

uint32_t acldvppGetPicDescWidthStride(const acldvppPicDesc* picDesc) {
  return get<PictureDesc, uint32_t>(__func__, picDesc, &PictureDesc::width_stride);
}

uint32_t acldvppGetPicDescHeightStride(const acldvppPicDesc* picDesc) {
  return get<PictureDesc, uint32_t>(__func__, picDesc, &PictureDesc::height_stride);
}

uint32_t acldvppGetPicDescRetCode(const acldvppPicDesc* picDesc) {
  return get<PictureDesc, uint32_t>(__func__, picDesc, &PictureDesc::ret_code);
}

acldvppStreamDesc* acldvppCreateStreamDesc(void) {
  return create<acldvppStreamDesc*, PacketDesc>(__func__);
}

aclError acldvppDestroyStreamDesc(acldvppStreamDesc* streamDesc) {
  return destroy<PacketDesc>(__func__, streamDesc);
}

aclError acldvppSetStreamDescData(acldvppStreamDesc* streamDesc, void* dataDev) {
  return set<PacketDesc>(__func__, streamDesc, &PacketDesc::data, dataDev);
}

aclError acldvppSetStreamDescSize(acldvppStreamDesc* streamDesc, uint32_t size) {
  return set<PacketDesc>(__func__, streamDesc, &PacketDesc::bytes, size);
}

aclError acldvppSetStreamDescFormat(acldvppStreamDesc* streamDesc, acldvppStreamFormat format) {
  return set<PacketDesc>(__func__, streamDesc, &PacketDesc::format, format);
}

aclError acldvppSetStreamDescTimestamp(acldvppStreamDesc* streamDesc, uint64_t timestamp) {
  return set<PacketDesc>(__func__, streamDesc, &PacketDesc::timestamp, timestamp);
}

aclError acldvppSetStreamDescRetCode(acldvppStreamDesc* streamDesc, uint32_t retCode) {
  return set<PacketDesc>(__func__, streamDesc, &PacketDesc::ret_code, retCode);
}

aclError acldvppSetStreamDescEos(acldvppStreamDesc* streamDesc, uint8_t eos) {
  return set<PacketDesc>(__func__, streamDesc, &PacketDesc::eos, eos);
}

void* acldvppGetStreamDescData(const acldvppStreamDesc* streamDesc) {
  return get<PacketDesc, void*>(__func__, streamDesc, &PacketDesc::data);
}

uint32_t acldvppGetStreamDescSize(const acldvppStreamDesc* streamDesc) {
  return get<PacketDesc, uint32_t>(__func__, streamDesc, &PacketDesc::bytes);
}

acldvppStreamFormat acldvppGetStreamDescFormat(const acldvppStreamDesc* streamDesc) {
  return get<PacketDesc, acldvppStreamFormat>(__func__, streamDesc, &PacketDesc::format);
}

uint64_t acldvppGetStreamDescTimestamp(const acldvppStreamDesc* streamDesc) {
  return get<PacketDesc, uint64_t>(__func__, streamDesc, &PacketDesc::timestamp);
}

uint32_t acldvppGetStreamDescRetCode(const acldvppStreamDesc* streamDesc) {
  return get<PacketDesc, uint32_t>(__func__, streamDesc, &PacketDesc::ret_code);
}

uint8_t acldvppGetStreamDescEos(const acldvppStreamDesc* streamDesc) {
  return get<PacketDesc, uint8_t>(__func__, streamDesc, &PacketDesc::eos);
}
