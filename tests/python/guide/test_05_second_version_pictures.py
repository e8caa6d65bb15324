# SPDX-License-Identifier: Apache-2.0
"""Guide 5.4.2: scaling and cropping in the second version of the interface."""
import numpy as np
from blocks import block, run_block

import acl

NAMES = {"acl": acl, "np": np, "ACL_HOST": 1, "ACL_MEMCPY_HOST_TO_DEVICE": 1,
         "ACL_MEMCPY_DEVICE_TO_HOST": 2, "ACL_MEMCPY_DEVICE_TO_DEVICE": 3,
         "HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420": 1}

START = """
    run_mode, ret = acl.rt.get_run_mode()

    ret = acl.init()

    ret = acl.rt.set_device(0)
    context, ret = acl.rt.create_context(0)

    ret = acl.himpi.sys_init()

    channel_id = 0
    chn_attr = {'attr': 0, 'pic_width': 0, 'pic_height': 0}
    ret = acl.himpi.vpc_create_chn(channel_id, chn_attr)

    input_pic = {'picture_width': 1920,
                 'picture_height': 1080,
                 'picture_width_stride': 1920,
                 'picture_height_stride': 1080,
                 'picture_format': HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420}
    input_pic["picture_buffer_size"] = input_pic["picture_width_stride"] * input_pic["picture_height_stride"] * 3 // 2
    picture_address, ret = acl.himpi.dvpp_malloc(0, input_pic["picture_buffer_size"])
    input_pic["picture_address"] = picture_address

    if run_mode == ACL_HOST:
        vpc_file = np.fromfile(vpc_file_path, dtype=np.byte)
        vpc_file_size = vpc_file.itemsize * vpc_file.size

        bytes_data = vpc_file.tobytes()
        vpc_file_ptr = acl.util.bytes_to_ptr(bytes_data)
        ret = acl.rt.memcpy(input_pic["picture_address"], input_pic["picture_buffer_size"],
                            vpc_file_ptr, vpc_file_size, ACL_MEMCPY_HOST_TO_DEVICE)
    else:
        vpc_file = np.fromfile(vpc_file_path, dtype=np.byte)
        vpc_file_size = vpc_file.itemsize * vpc_file.size

        bytes_data = vpc_file.tobytes()
        vpc_file_ptr = acl.util.bytes_to_ptr(bytes_data)
        ret = acl.rt.memcpy(input_pic["picture_address"], input_pic["picture_buffer_size"],
                            vpc_file_ptr, vpc_file_size, ACL_MEMCPY_DEVICE_TO_DEVICE)
    """  # noqa: E501
END = """
    if run_mode == ACL_HOST:
        np_output = np.zeros(output_pic.get('picture_buffer_size'), dtype=np.byte)

        bytes_data = np_output.tobytes()
        np_output_ptr = acl.util.bytes_to_ptr(bytes_data)
        ret = acl.rt.memcpy(np_output_ptr, output_pic.get('picture_buffer_size'),
                            output_pic.get("picture_address"),
                            output_pic.get('picture_buffer_size'), ACL_MEMCPY_DEVICE_TO_HOST)

    ret = acl.himpi.dvpp_free(input_pic['picture_address'])
    ret = acl.himpi.dvpp_free(output_pic['picture_address'])

    ret = acl.himpi.vpc_destroy_chn(channel_id)

    ret = acl.himpi.sys_exit()

    ret = acl.rt.destroy_context(context)
    ret = acl.rt.reset_device(0)

    ret = acl.finalize()
    """


def picture_file(path):
    """Writes a 1920 x 1080 picture whose planes are smooth, and returns them: luma, chroma."""
    y, x = np.mgrid[0:1080, 0:1920]
    luma = ((x + y) // 16).astype(np.uint8)
    chroma = np.stack([x[:540, :960] // 8, y[:540, :960] // 4], -1).astype(np.uint8)
    path.write_bytes(luma.tobytes() + chroma.tobytes())
    return luma, chroma


def planes(data):
    """The planes of the 960 x 540 picture that both blocks make."""
    luma, chroma = np.split(np.frombuffer(data, np.uint8), [960 * 540])
    return luma.reshape(540, 960), chroma.reshape(270, 480, 2)


@block("5.4.2", "chn_attr = {'attr': 0, 'pic_width': 0, 'pic_height': 0} (resize)",
       slips=["the result of vpc_resize is called testid, then task_id",
              "else stands without its colon, holds only comments and ends with a brace: left out"])
def test_5_4_2_resize(tmp_path):
    luma, chroma = picture_file(tmp_path / "in.yuv")
    names = run_block(START + """
    output_pic = {'picture_width': 960,
                  'picture_height': 540,
                  'picture_width_stride': 960,
                  'picture_height_stride': 540,
                  'picture_format': HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420}
    output_pic["picture_buffer_size"] = output_pic["picture_width_stride"] * output_pic["picture_height_stride"] * 3 // 2
    picture_address, ret = acl.himpi.dvpp_malloc(0, output_pic["picture_buffer_size"])
    output_pic["picture_address"] = picture_address
    ret = acl.rt.memset(output_pic["picture_address"], output_pic["picture_buffer_size"], 0,
                        output_pic["picture_buffer_size"])

    task_id, ret = acl.himpi.vpc_resize(channel_id, input_pic, output_pic, 0, 0, 0, -1)

    ret = acl.himpi.vpc_get_process_result(channel_id, task_id, -1)
    """ + END, vpc_file_path=str(tmp_path / "in.yuv"), **NAMES)  # noqa: E501
    got_luma, got_chroma = planes(names["bytes_data"])
    for got, source in ((got_luma, luma), (got_chroma, chroma)):
        assert np.abs(got.astype(int) - source[::2, ::2]).max() <= 1


@block("5.4.2", "chn_attr = {'attr': 0, 'pic_width': 0, 'pic_height': 0} (crop)",
       slips=["in device mode the input is copied to input_addr, which is not defined",
              "else stands without its colon, holds only comments and ends with a brace: left out"])
def test_5_4_2_crop(tmp_path):
    luma, chroma = picture_file(tmp_path / "in.yuv")
    names = run_block(START + """
    multithreading_count = 1
    crop_region_infos = []
    for i in range(multithreading_count):
        output_pic = {'picture_width': 960,
                      'picture_height': 540,
                      'picture_width_stride': 960,
                      'picture_height_stride': 540,
                      'picture_format': HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420}
        output_pic["picture_buffer_size"] = output_pic["picture_width_stride"] * output_pic["picture_height_stride"] * 3 // 2
        picture_address, ret = acl.himpi.dvpp_malloc(0, output_pic["picture_buffer_size"])
        output_pic["picture_address"] = picture_address

        ret = acl.rt.memset(output_pic["picture_address"], output_pic["picture_buffer_size"], 0,
                            output_pic["picture_buffer_size"])
        crop_region = {'top_offset': 0, 'left_offset': 0, 'crop_width': 960, 'crop_height': 540}
        crop_region_info = {'dest_pic_info': output_pic, 'crop_region': crop_region}
        crop_region_infos.append(crop_region_info)

    task_id, ret = acl.himpi.vpc_crop(channel_id, input_pic, crop_region_infos, 1, -1)

    ret = acl.himpi.vpc_get_process_result(channel_id, task_id, -1)
    """ + END, vpc_file_path=str(tmp_path / "in.yuv"), **NAMES)  # noqa: E501
    got_luma, got_chroma = planes(names["bytes_data"])
    assert np.array_equal(got_luma, luma[:540, :960])
    assert np.array_equal(got_chroma, chroma[:270, :480])
