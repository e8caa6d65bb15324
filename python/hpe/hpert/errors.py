# SPDX-License-Identifier: Apache-2.0
"""The exception of the host run-time."""
from hpe import _hpe

# Every documented code by name.
CODES = {_hpe.error_text(code)[0]: code for code in (*range(1, 30), 99)}


class CruntimeException(Exception):  # noqa: N818, the documented name
    """A failed call.

    code: the number of stcError_t; name: "stcErrorInvalidValue"; message: the documented Error
    Message; detail: what failed here, with the values.
    """

    def __init__(self, code, name=None, message=None, detail=""):
        if name is None:
            name, message = _hpe.error_text(code)
        super().__init__(code, name, message, detail)
        self.code = code
        self.name = name
        self.message = message
        self.detail = detail

    def __str__(self):
        text = f"{self.name}: {self.message}"
        return f"{text} ({self.detail})" if self.detail else text


# The document uses both names for one thing.
RuntimeAPIError = CruntimeException
_hpe.set_exception(CruntimeException)


def refuse(name, detail):
    """The exception for the documented code `name`."""
    return CruntimeException(CODES[name], detail=detail)
