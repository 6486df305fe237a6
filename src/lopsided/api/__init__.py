"""What `import lopsided` offers beside the parts: run, load, compare, batches."""
