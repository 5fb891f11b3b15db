"""What two people do to the house: an executor carries out each kind of approval, and a desk asks for it.

An executor does exactly what the approved digest says, in the transaction that marks it as done.
"""
