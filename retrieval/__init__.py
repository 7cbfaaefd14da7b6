"""Finding what an organisation's guidelines say, and saying when they don't."""
