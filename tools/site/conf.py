# SPDX-License-Identifier: Apache-2.0
"""Settings of the site; tools/site copies this beside the pages. No page loads anything from the web."""
project = "AnyNPU"
copyright = "the AnyNPU authors, Apache-2.0"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
html_theme = "furo"
html_title = "AnyNPU"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
language = "en"
# The index is split at spaces for English; Chinese words are found by jieba in pages that have them.
html_search_language = "zh"
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
suppress_warnings = ["toc.not_included", "misc.highlighting_failure", "myst.header", "toc.no_title"]
highlight_language = "text"
