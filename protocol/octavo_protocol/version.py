"""The version of the wire, for those who must know it without loading the models."""

PROTOCOL_VERSION = 1
"""Counts up when a client written for the version before would misread something."""
