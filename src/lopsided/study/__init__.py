"""A recipe's run as a study: what a target means, its manifest, its looks, its claims and reports."""
