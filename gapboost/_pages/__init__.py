"""Pages in HTML or Markdown, for the comparison of rankers and for the diagnosis of one.

===========  =================================================================
`page`       a page: sections of paragraphs, tables and pictures
`blocks`     the parts of a section
`text`       numbers and names, as pages show them
`described`  rankers and versions of libraries, as pages name them
`svg`        figures of matplotlib in the color of the page's text
===========  =================================================================
"""
