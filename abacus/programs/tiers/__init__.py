"""The tiers that members have in a program: by points earned in a period, or by an operator's word.

Each point counts once. A change is written in the transaction that counts, and published in order. Time moves only by
the job that ends periods.
"""
