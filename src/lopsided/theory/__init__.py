"""Theory in NumPy: predictions that simulations are compared with; it never sees simulation code."""
