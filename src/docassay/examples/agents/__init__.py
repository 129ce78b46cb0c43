"""Two agents for discovery tasks, as examples and as baselines: one abstains, one mines words."""
