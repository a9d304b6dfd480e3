"""What samples say: one record for a value and its interval, times that a budget censors."""
