# SPDX-License-Identifier: Apache-2.0
"""Data inside a page."""
import json


def json_in_html(value):
    """JSON for a script element. No character is left that a browser reads as markup: "</" would
    end the element, and after "<!--<script" nothing would."""
    text = json.dumps(value)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
