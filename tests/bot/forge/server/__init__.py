"""Forges on loopback: HTTP in the words of one forge, over a `LocalForge` that keeps the state.

A test seeds and inspects the state through `server.forge("alice")`; what is under test speaks
HTTP to `server.url`. Git is served by git's own `http-backend`.
"""
