"""What runs cost: operations, memory, hours, and the peak of a machine."""
