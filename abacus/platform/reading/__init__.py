"""Reading a store outside of this process for many callers at once, none of whom waits long for one that is away.

A *round* reads together what many callers want; a *breaker* leaves a store alone that fails; a *shared cache* keeps for
all processes what one has read. An *answer cache* keeps what was computed, under its meaning: fresh, then stale while
it is refreshed, then gone (docs/adr/0137). A *part cache* keeps parts of answers, which are looked up and read many at
once.
"""
