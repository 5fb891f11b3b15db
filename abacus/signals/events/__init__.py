"""Events: what happened, read from any topic by the source document of its stream.

A message becomes one event with the key `source:type:id`, or is set aside with the JSON pointer of its fault.
"""
