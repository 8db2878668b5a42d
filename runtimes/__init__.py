"""The products: composition roots over actors and ops."""
