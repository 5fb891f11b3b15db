"""The pace at which a receiver outside gets things, by hour of day, kept over all processes.

Each thing has a turn of its own, one step after the one before, whichever process sends it. So nothing comes in bursts,
and no process makes up for a turn that another did not use.
"""
