"""How fast Linnet is: against C written by hand, SciPy and other peers, measured in one run."""
