"""Average precision as one long list, beside losses of classification; see PROTOCOL.md."""
