"""What users give, checked and grouped in one place each.

============  ==================================================================================
`arguments`   numbers and choices
`queries`     rows to queries: grades, scores and weights
`ids`         query ids
`columns`     one value a row
`features`    tables of features
`lines`       lines of text files
`optional`    libraries that only some results need
`processes`   work over joblib's processes
============  ==================================================================================
"""
