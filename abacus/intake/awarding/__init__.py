"""The worker of the award queue: from envelopes to posted awards.

A message is deleted after its awards are committed. The door sets aside what cannot be ours, one award at a time.
"""
