"""Section 3: values of earlier layers, what is added and what is stored."""
