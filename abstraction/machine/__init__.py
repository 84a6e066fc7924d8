"""What is not poker: the machine that everything runs on."""
