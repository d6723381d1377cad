"""Studies: questions about measures and rankers answered by experiment; each a folder, its page beside it."""
