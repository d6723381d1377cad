"""Study of the variance of a difference, and of the differences that a collection can show."""
