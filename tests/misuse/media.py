# SPDX-License-Identifier: Apache-2.0
"""Good values for acl.media and acl.himpi: pictures, channels, files of one small picture."""

import io

from misuse.models import NO_VALUE

NV12, RGB = 1, 12
WIDTH, HEIGHT, STRIDE = 64, 48, 64
SIZE = STRIDE * HEIGHT * 3 // 2
BLOCK = 16384  # behind every address; larger than the picture and the files
VIDEO = bytes.fromhex("000000016742c00a")  # the start of an H.264 stream


def file_of(function):
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (16, 16), (200, 10, 10)).save(out, "PNG" if "png" in function.name else "JPEG")
    return out.getvalue()


def block(acl, data=b""):
    address = acl.media.dvpp_malloc(BLOCK)[0]
    acl.rt.memset(address, BLOCK, 0, BLOCK)
    if data:
        acl.rt.memcpy(address, BLOCK, acl.util.bytes_to_ptr(data), len(data), 1)
    return address


def fill_picture(acl, desc, function):
    values = {"data": block(acl), "size": SIZE, "format": NV12, "width": WIDTH, "height": HEIGHT,
              "width_stride": STRIDE, "height_stride": HEIGHT}
    if "png" in function.name:
        values = {"data": block(acl), "size": BLOCK, "format": RGB}
    elif "jpeg_decode" in function.name:
        values = {"data": block(acl), "size": BLOCK, "format": NV12}
    elif "pyr_down" in function.name and function.counter % 2:
        values.update(width=WIDTH // 2, height=HEIGHT // 2)
    for name, value in values.items():
        getattr(acl.media, "dvpp_set_pic_desc_" + name)(desc, value)
    return desc


def serve_callbacks(acl):
    """A thread that callbacks run in until the process ends."""
    context = acl.rt.get_context()[0]

    def work(_):
        acl.rt.set_context(context)
        while True:
            acl.rt.process_report(1000)

    return acl.util.start_thread(work, [])[0]


def channel(acl, kind, function):
    name = kind[3:7]
    media = acl.media
    if name == "dvpp":
        desc = media.dvpp_create_channel_desc()
        if function.name.endswith("_async") or function.name.endswith("destroy_channel"):
            media.dvpp_create_channel(desc)
        return desc
    desc = getattr(media, name + "_create_channel_desc")()
    getattr(media, name + "_set_channel_desc_callback")(desc, lambda *args: None)
    opens = "send" in function.name or function.name.endswith(("create_channel", "destroy_channel"))
    if opens:
        getattr(media, name + "_set_channel_desc_thread_id")(desc, serve_callbacks(acl))
    if name == "venc":
        media.venc_set_channel_desc_pic_width(desc, WIDTH)
        media.venc_set_channel_desc_pic_height(desc, HEIGHT)
        media.venc_set_channel_desc_key_frame_interval(desc, 8)
    if "send" in function.name or function.name.endswith("destroy_channel"):
        getattr(media, name + "_create_channel")(desc)
    return desc


def handle(maker, kind, function):
    """A live object of a C type of the media functions; NO_VALUE for other types."""
    acl = maker.acl
    if kind == "acldvppPicDesc":
        function.counter = getattr(function, "counter", -1) + 1
        return fill_picture(acl, acl.media.dvpp_create_pic_desc(), function)
    if kind == "acldvppBatchPicDesc":
        batch = acl.media.dvpp_create_batch_pic_desc(1)
        fill_picture(acl, acl.media.dvpp_get_pic_desc(batch, 0), function)
        return batch
    if kind == "acldvppStreamDesc":
        desc = acl.media.dvpp_create_stream_desc()
        acl.media.dvpp_set_stream_desc_data(desc, block(acl, VIDEO))
        acl.media.dvpp_set_stream_desc_size(desc, len(VIDEO))
        return desc
    if kind == "acldvppRoiConfig":
        return acl.media.dvpp_create_roi_config(0, 31, 0, 31)
    if kind.endswith("ChannelDesc"):
        return channel(acl, kind, function)
    makers = {"acldvppResizeConfig": "dvpp_create_resize_config",
              "acldvppJpegeConfig": "dvpp_create_jpege_config",
              "acldvppBorderConfig": "dvpp_create_border_config",
              "acldvppLutMap": "dvpp_create_lut_map", "acldvppHist": "dvpp_create_hist",
              "aclvdecFrameConfig": "vdec_create_frame_config",
              "aclvencFrameConfig": "venc_create_frame_config"}
    return getattr(acl.media, makers[kind])() if kind in makers else NO_VALUE


DESTROY = {"acldvppPicDesc": "dvpp_destroy_pic_desc",
           "acldvppBatchPicDesc": "dvpp_destroy_batch_pic_desc",
           "acldvppStreamDesc": "dvpp_destroy_stream_desc",
           "acldvppRoiConfig": "dvpp_destroy_roi_config",
           "acldvppResizeConfig": "dvpp_destroy_resize_config",
           "acldvppJpegeConfig": "dvpp_destroy_jpege_config",
           "acldvppBorderConfig": "dvpp_destroy_border_config",
           "acldvppLutMap": "dvpp_destroy_lut_map", "acldvppHist": "dvpp_destroy_hist",
           "aclvdecFrameConfig": "vdec_destroy_frame_config",
           "aclvencFrameConfig": "venc_destroy_frame_config",
           "acldvppChannelDesc": "dvpp_destroy_channel_desc",
           "aclvdecChannelDesc": "vdec_destroy_channel_desc",
           "aclvencChannelDesc": "venc_destroy_channel_desc"}


def destroy(maker, kind, value):
    if kind.endswith("ChannelDesc"):
        getattr(maker.acl.media, kind[3:7] + "_destroy_channel")(value)
    getattr(maker.acl.media, DESTROY[kind])(value)


# acl.himpi: channel 0 of the unit, made before the call.
H264 = 96
CHANNELS = {
    "vpc": {}, "pngd": {}, "vdec": {"type": H264, "mode": 1},
    "venc": {"venc_attr": {"type": H264, "pic_width": WIDTH, "pic_height": HEIGHT},
             "rc_attr": {"rc_mode": 1, "h264_cbr": {"gop": 8, "src_frame_rate": 25,
                                                    "dst_frame_rate": 25, "bit_rate": 300}}},
}
HIMPI = {"milli_sec": 0, "size": 4096, "operation": 1, "timeout": 0, "max_events": 1, "type": H264,
         "img_type": 26, "recv_param": {"recv_pic_num": -1}, "mod_param": {"mod_type": 1},
         "jpeg_param": {"qfactor": 50}}


def himpi(maker, function, argument):
    """Starts the system with the first argument; the channel is there unless the call makes it."""
    acl, name = maker.acl, argument.name
    if not getattr(maker, "himpi", False) and not function.name.endswith("sys_init"):
        maker.himpi = True
        acl.himpi.sys_init()
        unit = function.name.split(".")[2].split("_")[0]
        if unit in CHANNELS and not function.name.endswith("create_chn"):
            getattr(acl.himpi, unit + "_create_chn")(0, CHANNELS[unit])
    if name in ("attr", "chn_attr"):
        return CHANNELS.get(function.name.split(".")[2].split("_")[0], {})
    if argument.type == "ptr":
        return block(acl)
    if name == "epoll_fd":
        return acl.himpi.sys_create_epoll(1)[0]
    return HIMPI.get(name, NO_VALUE)


# By name of the argument, where the type alone does not tell.
VALUES = {"batch_size": 1, "left": 0, "right": 31, "top": 0, "bottom": 31, "mode": 1, "level": 50,
          "interpolation": 1, "en_type": 2, "out_pic_format": NV12, "pic_format": NV12,
          "output_pixel_format": NV12, "pic_width": WIDTH, "pic_height": HEIGHT,
          "key_frame_interval": 8, "src_rate": 25, "max_bit_rate": 300, "roi_nums_list": [1],
          "thread_id": 1, "param_type": 1, "param": 1, "user_data": 7, "reserve": 0, "policy": 0}


def good(maker, function, argument):
    if function.name.startswith("acl.himpi."):
        return himpi(maker, function, argument)
    if not function.name.startswith("acl.media."):
        return NO_VALUE
    acl, name = maker.acl, argument.name
    if argument.type == "list[handle]":
        kind = "acldvppBorderConfig" if "border" in name else "acldvppRoiConfig"
        return [handle(maker, kind, function)]
    if argument.type == "callable":
        return lambda *args: None
    if name == "data" and "encode" not in function.name and argument.type == "ptr":
        return block(acl, file_of(function))
    if name in ("size", "data_size") and argument.type == "u32":
        return 4096
    if name == "size_ptr":
        return block(acl, (BLOCK).to_bytes(4, "little"))
    if argument.type == "ptr" and name != "reserve":
        return block(acl)
    if "png_predict" in function.name and name == "output_pixel_format":
        return RGB
    if name in ("param", "param_type") and "venc" in function.name:
        return {"param": WIDTH, "param_type": 4}[name]
    if argument.type == "handle" and argument.handle:
        return handle(maker, argument.handle, function)
    return VALUES.get(name, NO_VALUE)
