"""The version of docassay: one place, which the package metadata and every signature read."""

__version__ = "0.1.0"
