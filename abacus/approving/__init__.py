"""What is done to the house by two people: the executors of approvals, and the desk of rate cards."""
