"""radian in simulated worlds: real sessions, turns and journals on a simulated disk."""
