"""Side-by-side speed, as ratios measured in one run: `make bench`."""
