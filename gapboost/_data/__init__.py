"""Checking and grouping of the data and parameters that users pass.

=============  =================================================================
`arguments`    numbers and choices
`columns`      one value a row
`ids`          query ids
`queries`      rows to queries
`grades`       grades
`recall_base`  documents of each grade in a query
`levels`       codes of grades: numbers among those of all queries, or of their own
`judgments`    the recall base as judgments of any grade
`labels`       several labels of each document
`weights`      weights of queries and of documents
`judged`       all of these together: queries with the grades of their documents
`summary`      counts and grades of a data set, for a fit
`positions`    where documents were shown
`features`     tables of features
`text`         lines and numbers of text files
`warned`       warnings that name the user's line
=============  =================================================================
"""
