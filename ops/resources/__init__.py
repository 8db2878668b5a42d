"""Resources: what a project declares to exist, and the readers that look whether it does."""
