"""Thin command lines; no formula lives here."""
