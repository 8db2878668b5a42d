"""The version of the distribution, known without asking the package metadata (which is slow)."""

VERSION = "0.1.0"
