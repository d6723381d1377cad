"""What makes rankings better: query-relative features, smaller steps, forests, several seeds."""
