"""Bots that `plurispiel deal --example` writes, as starts for one's own. They use no code of this package."""
