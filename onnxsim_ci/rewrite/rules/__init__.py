"""The rules, a folder a family: what a user may switch by id.

House: rewrite. A rule imports rewrite, analysis and model, never another rule.
Touch: the tuple in rewrite/catalogue.py.
"""
