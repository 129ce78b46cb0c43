"""Where documents are scored: this machine, Ray, Modal."""
