"""The dice race VeloCity."""
