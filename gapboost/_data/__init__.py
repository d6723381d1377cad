"""Checking and grouping of the data and parameters that users pass.

=============  =================================================================
`arguments`    numbers and choices
`columns`      one value a row
`queries`      rows to queries, by ids or sizes
`features`     tables of features
`grades`       grades, and several labels of each document
`recall_base`  documents of each grade in a query; codes of grades
`query_data`   all of these together: queries with grades and weights
`_compat`      names of scikit-learn that are not part of its interface
=============  =================================================================
"""
