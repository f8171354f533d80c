"""Traced functions: signatures, traces, gradients of graphs, and control flow as operations."""
