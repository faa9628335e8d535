"""What the bots of all games share: how they are declared, found, named and asked; it knows no game but by its name."""
