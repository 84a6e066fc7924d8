"""Options and help of the commands, one module each; imports the standard library alone, so that help is fast."""
