"""What a person reads: reports, comparisons and the local page, all made from finished runs; nothing is scored here."""
