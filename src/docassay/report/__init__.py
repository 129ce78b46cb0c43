"""From run tables to what a person reads; nothing is rescored."""
