"""Rules of the family quant: one file a rule, one fixture, one page.

House: rewrite/rules.
Touch: the tuple in rewrite/catalogue.py.
"""
