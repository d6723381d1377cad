"""Settings that may rank better: query-relative features, smaller steps, forests, several seeds."""
