"""The adapter on real Delta tables."""
