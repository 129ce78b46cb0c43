"""One async client for OpenAI-compatible endpoints."""
