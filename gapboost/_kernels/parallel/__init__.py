"""Chunks of work on several threads.

=========  ======================================
`chunks`   hands chunks of queries out to threads
`openmp`   lends the threads of a booster
=========  ======================================
"""
