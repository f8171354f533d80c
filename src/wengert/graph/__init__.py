"""Graphs: small records of what a traced function does, and what is done to them."""
