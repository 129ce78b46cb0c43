"""One prediction against one ground truth: addresses, pairing, verdicts, metrics."""
