"""The four papers, item by item: what they show, and what gapboost gives. See PAPERS.md."""
