"""Findings mined from a corpus, judged on evidence."""
