"""Builds, runs, judges and optimizes operators; holds no forge token."""
