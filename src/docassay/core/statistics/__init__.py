"""Intervals, paired tests and estimators; the random generator is always passed in."""
