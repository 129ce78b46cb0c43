"""docassay measures how well models read documents: extraction and discovery."""

__version__ = "0.1.0"

__all__ = ["__version__"]
