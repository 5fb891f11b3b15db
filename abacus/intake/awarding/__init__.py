"""The worker of the award queue: from envelopes to posted awards."""
