# SPDX-License-Identifier: Apache-2.0
"""Settings of the site; tools/site copies this beside the pages. No page loads anything from the web."""
import logging
import os

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
html_show_search_summary = False  # fetched from pages, which browsers forbid for files
html_copy_source = False
language = "en"
# The index is split at spaces for English; Chinese words are found by jieba in pages that have them.
html_search_language = "zh"
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
suppress_warnings = ["toc.not_included", "misc.highlighting_failure", "myst.header", "toc.no_title"]
highlight_language = "text"


def complete_search(app, error):
    """Sphinx 9.0 names a stemmer for Chinese that its file does not define: no search would run."""
    if error:
        return
    path = os.path.join(app.outdir, "_static", "language_data.js")
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("window.Stemmer = ChineseStemmer;", "")
    with open(os.path.join(app.srcdir, "search.js"), encoding="utf-8") as file:
        text += file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def setup(app):
    import jieba
    jieba.setLogLevel(logging.WARNING)  # else it tells how it loads its words
    app.connect("build-finished", complete_search)
