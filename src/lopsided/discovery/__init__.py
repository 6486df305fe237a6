"""Skills of data without labels: clusters of texts or embeddings, how stable they are, and what they are about."""
