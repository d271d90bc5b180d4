"""The pre-commit door: what `onnxsim-ci hook` does with the files that a manager hands over.

Belongs here: arguments, what was seen before, links and modes, a line a file, exit codes of the hooks.
Does not: how a model is simplified or proven (api), how many run at a time (fleet).

House: hooks, a door. `door`, `arguments`, `places`, `said` and `seen` are the fast path: standard library,
errors and vcs only, since most runs find nothing new. The rest is imported when there is work to do.
Touch: .pre-commit-hooks.yaml, integrations/pre-commit, `onnxsim_ci/__main__.py`.
"""
