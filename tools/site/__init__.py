"""Makes the site: `python -m tools.site`.

The pages are the Markdown files of the repository, a reference made from the package's signatures
and docstrings, a table of TensorFlow's names, and the source files that pages link to. They are
plain HTML with one style sheet: no script, nothing from the network, and links that are relative,
so that a folder opened in a browser is the site.

markdown-it-py and Pygments do the reading and colouring; rich brings both. A site generator would
bring twenty packages and a theme, and would still need the reference and the table from here.
"""
