"""Vendors and models that read documents: contract, registry, one file per vendor."""
