"""Text as a function of random words: pieces of text, how they are cut into tokens, rows of documents."""
