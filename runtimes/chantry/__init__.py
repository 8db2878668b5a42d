"""chantry: tools for trying and testing agents that speak ACP."""
