"""Stage 1: SQL text in, a validated relational-algebra plan out.

Files in the order of the flow: ``definition`` (the CREATE statement), ``from_sql`` (query → plan), ``normalize``
(one spelling for each meaning), ``schema`` (types), ``to_sql`` (plan → SQL), ``explain`` (plan ↔ readable text).
``nodes`` holds the operators, ``rewrite`` the only recursion over whole plans. May import ``settings`` and ``errors``.
"""
