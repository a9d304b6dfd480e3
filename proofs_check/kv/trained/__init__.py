"""What came of training at a small scale, beside the sentences it bears on."""
