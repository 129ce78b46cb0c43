"""What both tracks share: digests, signatures, column types, statistics."""
