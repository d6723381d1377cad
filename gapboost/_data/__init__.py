"""What users give, checked and grouped in one place each.

=============  =========================================================
"""
