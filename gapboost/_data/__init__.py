"""What users give, checked and grouped in one place each.

============  ==================================================================================
`arguments`   numbers and choices
`queries`     rows to queries: query ids, grades, scores and weights
`features`    tables of features
`lines`       lines of text files
`optional`    libraries that only some results need
============  ==================================================================================
"""
