"""Points become points of a partner's program, and the other way round.

The credit is the commit point: the giver holds, the taker credits once under the giver's id, and the giver captures.
What was sent is never let go by time or by silence.
"""
