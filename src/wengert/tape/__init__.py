"""Gradient tapes: recording, the backward loop, custom gradients and forward mode.

This room is built on the operations; it knows nothing of the engines that run graphs.
"""
