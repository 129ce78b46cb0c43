"""Run directories: layout, atomic writes, manifests, resume, tables."""
