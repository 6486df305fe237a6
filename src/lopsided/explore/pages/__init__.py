"""The four views of the page: claims, run, live, try."""
