"""Checks whether a clone is faithful: the command `keras-clone check`."""
