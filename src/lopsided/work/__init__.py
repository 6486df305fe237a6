"""Work on members: jobs, leases in hand, commits, and the clock that says where time goes."""
