"""When two values are equal: recognising, folding, canonical forms and their explanation."""
