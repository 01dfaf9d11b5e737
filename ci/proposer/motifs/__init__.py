"""Rewrites of kernels and tilings that rules describe: patterns, sites, transforms."""
