"""What a JSON Schema offers: slots for values, arrays, and open maps that cannot be scored."""

from docassay.extraction.schema.node import SchemaNode, read_schema

__all__ = ["SchemaNode", "read_schema"]
