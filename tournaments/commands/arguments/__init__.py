"""Options and help of the commands, a module for each, and options that several share; none needs numpy for --help."""
