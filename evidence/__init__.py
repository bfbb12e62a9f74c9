"""Measures what the docs report, records it, and writes the pages from the records.

    python -m evidence NAME run|record|page
"""
import os

# Otherwise, TensorFlow writes its log between the figures.
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
