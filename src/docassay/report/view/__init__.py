"""The local page that explores one run: tables in DuckDB, a small server on 127.0.0.1, a page without frameworks."""
