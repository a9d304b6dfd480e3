"""Tables: cells as printed, and every sentence that the text draws from them."""
