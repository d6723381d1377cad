"""Whether a measure's informativeness tells what training for it gains in others. `PROTOCOL.md` came before the first value."""
