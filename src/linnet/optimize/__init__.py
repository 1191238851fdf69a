"""How one loop is coded: what is done to imperative code, whatever the program that it is of."""
