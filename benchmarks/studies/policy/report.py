"""Tables of POLICY.md."""


def write(*records):
    """Write the tables into the page."""
