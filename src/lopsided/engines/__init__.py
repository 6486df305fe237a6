"""Engines: how specs are run. Each is one file with a class that says which specs it runs."""
