"""Random valid Affine Loop IR programs, with what is known of the accuracy of every tensor. Entry: program.generate."""
