"""``chantry simulate``: many seeds of many scenarios, and one seed again."""
