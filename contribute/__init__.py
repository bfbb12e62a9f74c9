"""Prepares pull requests to Keras, from a checkout of this project."""
