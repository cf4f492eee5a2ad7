"""Features from other values."""
