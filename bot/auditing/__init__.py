"""Proving, showing and clearing what the ledger keeps."""
