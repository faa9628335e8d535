"""Slow, obvious referees written from the rule texts alone, as test twins of the fast engines."""
