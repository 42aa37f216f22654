# SPDX-License-Identifier: Apache-2.0
"""Sphinx settings of the site; build.py writes the pages beside them."""
project = "dpsosp"
author = "The dpsosp authors"
extensions = ["myst_parser"]
root_doc = "index"
nitpicky = True
myst_heading_anchors = 4
html_theme = "alabaster"
html_theme_options = {
    "description": "Differentially private search for second-order stationary points",
    "fixed_sidebar": False,
    "page_width": "1100px",
    "sidebar_width": "250px",
    "show_powered_by": False,
    "font_family": "sans-serif",
    "head_font_family": "sans-serif",
}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html", "api.html"]}
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
smartquotes = False
# Headings of errata begin one level deeper than Markdown's counting wants.
suppress_warnings = ["myst.header"]
