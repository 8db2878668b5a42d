"""chant in simulated worlds: real turns, runs and ledger on a simulated disk."""
