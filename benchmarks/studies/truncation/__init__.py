"""What truncation costs: the boosters' pairs beside the exact gradient over all pairs."""
