# SPDX-License-Identifier: Apache-2.0
"""Makes the pages of a report from the models that `dpsosp` writes: python3 -m dpsosp.report FOLDER.

The folder has site.json, which lists the pages, models.json, the schema of the models, and each page's model as JSON where
the page goes. Templates of Jinja2 place what the models say (templates/), and style.css is their look. A page whose model,
templates and figures are as before is not made again.
"""
