"""Stage 2: a plan in, its delta plan out, and the layout of the state that the view's table stores.

``linearity`` tells what rule an operator has, ``differentiate`` applies the textbook rule to each, ``simplify`` makes
the result cheap in separate passes, ``state`` decides what is stored. May import ``plan``, ``settings``, ``errors``.
"""
