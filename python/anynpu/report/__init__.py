# SPDX-License-Identifier: Apache-2.0
"""anynpu report: one page about a profile, without a network. lanes.py reads, figures.py counts,
page.py writes the page (page.css, page.js), others.py writes the forms of other viewers."""
