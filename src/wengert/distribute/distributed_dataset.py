"""Datasets for several replicas."""

from __future__ import annotations


class DistributedDataset:
    """A dataset for several replicas; there is one replica, so nothing is of this type."""


class DistributedIterator:
    """Its iterator; nothing is of this type."""
