"""The only modules that join stages."""
