"""Velonimo: the card game, from its cards to whole games played by bots."""
