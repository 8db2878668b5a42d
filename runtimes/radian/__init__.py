"""radian: an agent that works on a repository.  So far its command line only."""
