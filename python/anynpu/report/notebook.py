# SPDX-License-Identifier: Apache-2.0
"""The page in a cell of a notebook: `anynpu.report("PROF_...")`."""
import html

from anynpu.report.lanes import open_source
from anynpu.report.page import page_text
from anynpu.whole_file import write_whole


class Report:
    """Shown by Jupyter as the page itself; elsewhere a line of text. Raises RecordingError where
    the profile cannot be read."""

    def __init__(self, profile, diff=None, height=720):
        source = open_source(profile)
        self.title, self.height = source.title, int(height)
        self.slices = sum(len(lane.slices) for lane in source.lanes)
        self.text = page_text(source, open_source(diff) if diff else None)

    def save(self, path):
        """Writes the page to a file."""
        write_whole(path, self.text)
        return path

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.text)}" title="{html.escape(self.title)}" '
                f'style="width:100%;height:{self.height}px;border:1px solid #8884;'
                'border-radius:6px"></iframe>')

    def __repr__(self):
        return (f"<anynpu report of {self.title}: {self.slices} slices; a notebook shows it, "
                "save(path) writes the page>")
