"""Counters: how often something happened, for any key, in any range of time.

A sum equals a plain count over the stream, whatever was redelivered, repeated or killed: rows hold absolute counts and
the last offset in them. `writer.py` counts; `reading/` answers.
"""
