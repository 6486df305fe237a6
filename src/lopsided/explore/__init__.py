"""`lopsided explore`: a local page that shows a folder of runs while others write to it."""
