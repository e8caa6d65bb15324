# SPDX-License-Identifier: Apache-2.0
"""What the options of the command accept; argparse prints the message and exits with status 2."""
import re
from argparse import ArgumentTypeError

from ais_bench.infer import file_checks

_WORDS = {"yes": True, "true": True, "t": True, "y": True, "1": True,
          "no": False, "false": False, "f": False, "n": False, "0": False}
_SHAPES = re.compile(r"[_A-Za-z0-9,;:/.-]+")
_NAME = re.compile(r"[_A-Za-z0-9/.-]{1,256}")
_EXTENT = re.compile(r"[1-9][0-9]{0,4}")
MEGA = 1 << 20


def boolean(text):
    if text.lower() not in _WORDS:
        raise ArgumentTypeError(f"'{text}' is no boolean; write true or false (yes, no, 1, 0)")
    return _WORDS[text.lower()]


def _whole(text):
    if not re.fullmatch(r"[0-9]+", text):
        raise ArgumentTypeError(f"'{text}' is no number; digits alone are allowed")
    return int(text)


def positive(text):
    value = _whole(text)
    if value < 1:
        raise ArgumentTypeError(f"'{text}' is not positive")
    return value


def not_negative(text):
    return _whole(text)


def loop_count(text):
    value = positive(text)
    if value > 100000:
        raise ArgumentTypeError(f"'{text}' is more than 100000 loops")
    return value


def devices(text):
    """One device, or a list when there is a comma."""
    parts = text.split(",")
    if len(parts) > 256:
        raise ArgumentTypeError(f"{len(parts)} devices are more than 256")
    for part in parts:
        if _whole(part) > 255:
            raise ArgumentTypeError(f"device {part} is not from 0 to 255")
    return [int(part) for part in parts] if len(parts) > 1 else int(text)


def _checked(check, *arguments):
    def convert(text):
        try:
            return check(text, *arguments)
        except file_checks.UnsafePath as error:
            raise ArgumentTypeError(str(error)) from None

    return convert


model_file = _checked(file_checks.readable, ".om", 10 << 30)
json_file = _checked(file_checks.readable, ".json", 8 << 10)
config_file = _checked(file_checks.readable, ".config", int(12.5 * 1024))
output_folder = _checked(file_checks.output_folder)


def input_paths(text):
    parts = text.split(",")
    if len(parts) > 1024:
        raise ArgumentTypeError(f"{len(parts)} inputs are more than 1024")
    check = _checked(file_checks.readable)
    for part in parts:
        check(part)
    return text


def height_width(text):
    parts = text.split(",")
    if len(parts) != 2 or not all(re.fullmatch(r"[0-9]+", p) and 1 <= int(p) < 2 ** 31
                                  for p in parts):
        raise ArgumentTypeError(f"'{text}' is no image size; write height,width")
    return text


def shapes(text):
    """name:d,d;name:d,d"""
    if not _SHAPES.fullmatch(text):
        raise ArgumentTypeError(f"'{text}' has characters that no shape has")
    parts = [part for part in text.split(";") if part]
    if len(parts) > 1024:
        raise ArgumentTypeError(f"{len(parts)} inputs are more than 1024")
    for part in parts:
        name, colon, extents = part.partition(":")
        numbers = extents.split(",")
        if not (colon and _NAME.fullmatch(name) and len(numbers) <= 7
                and all(_EXTENT.fullmatch(number) for number in numbers)):
            raise ArgumentTypeError(f"'{part}' is no shape; write name:1,3,224,224")
    return text


def output_sizes(text):
    if not re.fullmatch(r"[0-9]+(,[0-9]+)*", text):
        raise ArgumentTypeError(f"'{text}' is no list of sizes; write bytes,bytes")
    return text


def shape_range(text):
    from ais_bench.infer.shape_range import check_range
    try:
        return check_range(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
