"""The categories of products of a country, as a published document: a tree of three levels.

Offers name categories; where a country has published none, any name will do.
"""
