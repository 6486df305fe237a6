"""Which shape of data to train on: races between candidates, for specs, tables and any training."""
