"""Rules and cards of hold'em, card and action abstraction, game trees, and the machine they run on."""
