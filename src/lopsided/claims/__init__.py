"""What recipes claim, as data: kinds of tests, what each reads, and how it is decided from stored results."""
