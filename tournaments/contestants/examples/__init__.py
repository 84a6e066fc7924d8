"""Bots that `plurispiel deal --example` writes, as starting points. They use no code of this package."""
