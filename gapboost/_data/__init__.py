"""Checking and grouping of the data and parameters that users pass.

=============  =================================================================
`arguments`    numbers and choices
`columns`      one value a row
`ids`          query ids
`queries`      rows to queries
`grades`       grades
`recall_base`  documents of each grade in a query
`levels`       codes of grades, and the recall base
`judgments`    the recall base that a caller gives
`labels`       several labels of each document
`weights`      weights of queries and of documents
`judged`       all of these together: queries with the grades of their documents
`summary`      counts and grades of all rows, for a fit
`positions`    where documents were shown
`features`     tables of features
`warned`       warnings that name the user's line
=============  =================================================================
"""
