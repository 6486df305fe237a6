"""Where workers come from: one file for each kind of engine that starts processes. See docs/clusters.md."""
