"""The search: its loop, its graph, and the contract of selections, policies and initial statistics."""
