"""Tables that are run by somebody else, at which an agent of ours takes a seat."""
